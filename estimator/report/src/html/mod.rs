//! The report as one self-contained page: no script, no other file, readable as plain text of headings and tables.

mod energy;
mod goals;
mod overview;
mod pictures;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use energy::area_of;
pub(crate) use pictures::alone;
pub use pictures::{Picture, registers_over_time};
pub(crate) use view::Chart;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};

use super::model::Report;

const PAGE: &str = concat!(
    include_str!("../templates/head.html"),
    include_str!("../templates/charts.html"),
    include_str!("../templates/report.html")
);
pub(super) const STYLE: &str = include_str!("../templates/style.css");
/// The function `exportable` of a page: buttons below its pictures and tables that save them as files.
pub const EXPORTS: &str = include_str!("../templates/exports.js");

/// How templates are written.
pub(super) fn syntax() -> Result<SyntaxConfig, minijinja::Error> {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).build()
}

impl Report {
    /// The page.
    ///
    /// # Errors
    /// If the template cannot be rendered, which a test of the template excludes.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_syntax(syntax()?);
        // The name's ending switches escaping on.
        environment.add_template("report.html", PAGE)?;
        let template = environment.get_template("report.html")?;
        template.render(context! { page => Serde(view::Page::of(self)), style => STYLE })
    }
}
