//! A page of tables, for what is no report of a study: self-contained.

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::html::{EXPORTS, STYLE, syntax};

const PAGE: &str = concat!(
    include_str!("templates/head.html"),
    include_str!("templates/grid.html"),
    include_str!("templates/end.html"),
    include_str!("templates/grids.html")
);

/// The page.
#[derive(Debug, Serialize)]
pub struct Grids {
    /// Its title.
    pub title: String,
    /// What it is about.
    pub lead: String,
    /// Its tables.
    pub tables: Vec<Grid>,
    /// What a reader must know, below them.
    pub notes: Vec<String>,
    /// Of this program.
    pub version: &'static str,
}

/// A table under a heading; none is shown without rows.
#[derive(Debug, Default, Serialize)]
pub struct Grid {
    /// Its heading.
    pub heading: String,
    /// What it shows.
    pub caption: String,
    /// The names of its columns.
    pub headings: Vec<String>,
    /// Its rows, a text a column.
    pub rows: Vec<Vec<String>>,
}

impl Grids {
    /// The page.
    ///
    /// # Errors
    /// If the template cannot be rendered, which a test of the template excludes.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_syntax(syntax()?);
        // The name's ending switches escaping on.
        environment.add_template("grids.html", PAGE)?;
        let template = environment.get_template("grids.html")?;
        template.render(context! { page => Serde(self), style => STYLE, exports => EXPORTS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_notes_are_shown_and_escaped() {
        let table = |heading: &str, rows: Vec<Vec<String>>| Grid {
            heading: heading.to_owned(),
            caption: "of it".to_owned(),
            headings: vec!["name".to_owned(), "value".to_owned()],
            rows,
        };
        let row = vec!["a<T>".to_owned(), "1 J".to_owned()];
        let page = Grids {
            title: "app <x>".to_owned(),
            lead: "lead".to_owned(),
            tables: vec![table("Kernels", vec![row]), table("Nothing", Vec::new())],
            notes: vec!["mind & note".to_owned()],
            version: "0",
        };
        let html = page.html().unwrap();
        assert!(html.contains("<h1>app &lt;x&gt;</h1>"), "{html}");
        assert!(html.contains("a&lt;T&gt;") && html.contains("<td>1 J</td>"));
        assert!(html.contains("mind &amp; note") && !html.contains("Nothing"));
    }
}
