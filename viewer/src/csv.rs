//! Figures as comma-separated values, for spreadsheets.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// What a spreadsheet takes for a formula when a cell begins with it.
const FORMULAS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns the rows as a file of this name.
pub(crate) fn file(name: &str, rows: &[Vec<String>]) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.csv\"")),
    ];
    (headers, text(rows)).into_response()
}

fn text(rows: &[Vec<String>]) -> String {
    let line = |row: &Vec<String>| row.iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",") + "\r\n";
    rows.iter().map(line).collect()
}

/// Quotes what needs it (RFC 4180). Words that a spreadsheet would compute are put behind an apostrophe; numbers are
/// left alone.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(FORMULAS) && cell.parse::<f64>().is_err();
    let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if cell.contains([',', '"', '\n', '\r']) || is_formula {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_no_formulas() {
        let rows = [["a,b", "say \"x\"", "=1+1", "-5.2", "@cmd", "plain"].map(str::to_owned).to_vec()];
        assert_eq!(text(&rows), "\"a,b\",\"say \"\"x\"\"\",\"'=1+1\",-5.2,\"'@cmd\",plain\r\n");
    }
}
