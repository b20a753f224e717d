// Says to screen readers and to the choice of letters which language the page is in: Streamlit's own page says English.
export default function ({ data }) {
  document.documentElement.lang = data.language;
}
