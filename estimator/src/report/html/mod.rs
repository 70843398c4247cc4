//! The report as one self-contained page: no script, no other file, readable as plain text of headings and tables.

mod goals;
mod view;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};

use super::model::Report;

const PAGE: &str = include_str!("../templates/report.html");
const STYLE: &str = include_str!("../templates/style.css");

impl Report {
    /// The page.
    ///
    /// # Errors
    /// If the template cannot be rendered, which a test of the template excludes.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        environment.set_syntax(syntax.trim_blocks(true).lstrip_blocks(true).build()?);
        // The name's ending switches escaping on.
        environment.add_template("report.html", PAGE)?;
        let template = environment.get_template("report.html")?;
        template.render(context! { page => Serde(view::Page::of(self)), style => STYLE })
    }
}
