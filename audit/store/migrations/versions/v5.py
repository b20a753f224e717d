"""Version 4 to 5: sums of the rows (`audit.store.row_sums`), which are worked out once all steps are done, and which
sources a sample is drawn from."""

from sqlalchemy import BigInteger, Column, String

from audit.store.migrations.steps import add_column, add_table

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Make the table and the column."""
    add_table(
        "seal",
        Column("name", String, primary_key=True),
        Column("rows", BigInteger, nullable=False),
        Column("sum", BigInteger, nullable=False),
    )
    add_column("sample", Column("domain", String, nullable=False, server_default="all"))
