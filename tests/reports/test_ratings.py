"""Ratings from a CSV, with every way in which it may be wrong."""

import pytest

from audit.errors import BadFile, BadRow
from audit.reports.ratings import once, read_ratings

REPEATED = "item,annotator,label\n1,a,x\n1,b,x\n1,a,y\n1,a,y\n2,a,x\n2,b,z\n2,a,y\n"


@pytest.fixture
def written(tmp_path):
    """`written(text)` -> path of ratings.csv."""
    path = tmp_path / "ratings.csv"
    return lambda content: path.write_text(content, encoding="utf-8") and path


def rows(rated):
    return list(rated.frame[["item", "annotator", "label"]].itertuples(index=False, name=None))


def test_files_that_cannot_be_used_say_why(written):
    for content, says in (
        ("item,annotator\n1,a\n", r"column\(s\) label missing; needed are item, annotator, label"),
        ("item,annotator,label\n1,a,\n", "the file has no rows"),
        ("item,annotator,label\n1,,x\n,b,x\n", "2 of 2 rows are wrong, so nothing was used:\n  line 2: the column"),
    ):
        with pytest.raises((BadFile, BadRow), match=says):
            read_ratings(written(content))


def test_labels_and_names_count_in_any_case_and_missing_labels_are_left_out(written):
    rated = read_ratings(
        written("Item;Annotator;Label\n1;Ann;Yes\n1;ben;yes\n2;ann;NA\n2;Ben;no\n3;Ann;\n3;ben;none\n")
    )
    assert rows(rated) == [("1", "ann", "Yes"), ("1", "ben", "Yes"), ("2", "ben", "no"), ("3", "ben", "none")]
    assert rated.notes == ("2 of 6 ratings have no label (NA) and are left out.",)


def test_a_wide_table_has_a_column_for_each_annotator(written):
    path = written("id,person_1,person_2\na,x,y\nb,x,\n")
    rated = read_ratings(path, columns={"item": "id", "label": "person_1+person_2"})
    assert rows(rated) == [("a", "person_1", "x"), ("a", "person_2", "y"), ("b", "person_1", "x")]


@pytest.mark.parametrize(
    ("repeats", "first", "second"),
    [("first", "x", "x"), ("last", "y", "y"), ("majority", "y", "x")],  # of item 2's tie the earlier
)
def test_repeats_are_refused_or_chosen_from(written, repeats, first, second):
    path = written(REPEATED)
    with pytest.raises(BadFile, match=r"3 of 7 rows are wrong(.|\n)*line 4: column annotator: a rates item 1 again"):
        once(read_ratings(path), None, path)
    rated = once(read_ratings(path), repeats, path)
    assert sorted(rows(rated)) == [("1", "a", first), ("1", "b", "x"), ("2", "a", second), ("2", "b", "z")]
    assert rated.notes == (f"3 repeated ratings were left out; the {repeats} of each counts.",)
