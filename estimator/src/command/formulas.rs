//! CSV for spreadsheets, which take some words for formulas: a kernel called `=HYPERLINK(...)` must not become one.

/// `csv` with an apostrophe before every cell that a spreadsheet would take for a formula and that is no number, as OWASP advises on CSV injection.
pub fn escaped(csv: &[u8]) -> Result<Vec<u8>, csv::Error> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(csv);
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    for record in reader.records() {
        let record = record?;
        writer.write_record(record.iter().map(cell))?;
    }
    writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}

fn cell(text: &str) -> String {
    // Also the wide forms of these signs, which some spreadsheets take for the plain ones.
    let signs = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if text.starts_with(signs) && text.parse::<f64>().is_err() {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_numbers_are_not() {
        let csv = "kernel,x\n\"=1+2,3\",-1.5e-9\n@sum,+7\n-a,-0.5\n\"\t=1\",\nb=c,\"q\"\"=\"\n";
        let safe = "kernel,x\n\"'=1+2,3\",-1.5e-9\n'@sum,+7\n'-a,-0.5\n'\t=1,\nb=c,\"q\"\"=\"\n";
        assert_eq!(
            String::from_utf8(escaped(csv.as_bytes()).unwrap()).unwrap(),
            safe
        );
    }

    #[test]
    fn a_table_without_formulas_stays_as_it_is() {
        let csv = b"kernel,note\nbfs,\"a, b\"\nscan,\n";
        assert_eq!(escaped(csv).unwrap(), csv);
    }
}
