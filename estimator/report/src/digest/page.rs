//! A digest as one self-contained page.

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use super::Digest;
use super::show::Shown;
use crate::format;
use crate::html::{STYLE, syntax};

const PAGE: &str = concat!(
    include_str!("../templates/head.html"),
    include_str!("../templates/grid.html"),
    include_str!("../templates/digest.html")
);

/// Points of a front that the page shows; `digest.json` has all.
const SHOWN: usize = 100;

/// What the page shows, as texts for its template.
#[derive(Serialize)]
struct Page<'d> {
    title: &'d str,
    points: String,
    inside_budget: Option<usize>,
    spreads: Grid,
    ends: Vec<String>,
    axes: Vec<Grid>,
    fronts: Vec<Grid>,
    version: &'static str,
}

/// A table under a heading.
#[derive(Serialize)]
struct Grid {
    heading: String,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Rows that are not shown.
    more: usize,
}

impl Digest {
    /// The page.
    ///
    /// # Errors
    /// If the template cannot be rendered, which a test of the template excludes.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_syntax(syntax()?);
        // The name's ending switches escaping on.
        environment.add_template("digest.html", PAGE)?;
        let template = environment.get_template("digest.html")?;
        template.render(context! { page => Serde(Page::of(self)), style => STYLE })
    }
}

impl<'d> Page<'d> {
    fn of(digest: &'d Digest) -> Self {
        let axes = digest.axes.iter();
        let fronts = digest
            .fronts
            .iter()
            .filter(|front| !front.points.is_empty());
        Self {
            title: &digest.title,
            points: format::count(digest.points as u64),
            inside_budget: digest.inside_budget,
            spreads: Grid::of("Configurations".to_owned(), digest.spreads(), 0),
            ends: digest
                .configurations
                .iter()
                .flat_map(super::Configuration::ends)
                .collect(),
            axes: axes
                .map(|along| Grid::of(format!("Along {}", along.axis), along.shown(), 0))
                .collect(),
            fronts: fronts
                .map(|front| {
                    let heading = format!("{} ({})", front.kernel.name, front.kernel.case);
                    let more = front.points.len().saturating_sub(SHOWN);
                    Grid::of(heading, digest.front(front, SHOWN), more)
                })
                .collect(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl Grid {
    fn of(heading: String, shown: Shown, more: usize) -> Self {
        Self {
            heading,
            headings: shown.headings,
            rows: shown.rows,
            more,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Gathering;
    use crate::metric::{Metrics, Objective};
    use crate::{Report, sample};

    #[test]
    fn the_page_has_every_configuration_and_escapes_what_it_shows() {
        let objectives = ["energy_j", "time_s"];
        let read = |text| Objective::read(text, &Metrics::known()).unwrap();
        let mut gathering = Gathering::new("<b>", "0".to_owned(), &objectives.map(read));
        let points = sample::outcomes();
        gathering.add(&Report::new("<b>", &points));
        let (digest, _) = gathering.finish();
        assert_eq!(digest.points, points.len());
        let page = digest.html().unwrap();
        assert!(
            page.contains("<h1>&lt;b&gt;</h1>") && !page.contains("<b>"),
            "{page}"
        );
        for one in &digest.configurations {
            assert!(page.contains(&one.technique), "{}", one.technique);
        }
        assert!(page.contains("Best compromises"));
        let json = serde_json::to_string(&digest).unwrap();
        let again: super::Digest = serde_json::from_str(&json).unwrap();
        assert_eq!(again, digest);
    }
}
