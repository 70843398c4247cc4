//! A report's page, made so that it can be turned.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use warpwatt_analysis::run::catalogue;
use warpwatt_pricing::outcome::Outcome;
use warpwatt_report::EXPORTS;
use warpwatt_run::again::Counts;
use warpwatt_store::Manifest;

/// The models, a WebAssembly module compressed by gzip; `module/build.sh` makes it from this crate.
pub const MODULE: &[u8] = include_bytes!("../module/page.wasm.gz");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");
const PANEL: &str = include_str!("panel.html");

/// More points than are priced while one waits.
pub const MOST_POINTS: usize = 200;

/// What was counted of these results. Nothing if they are too many, or if it does not follow from them, as [`Counts::of`] says.
pub fn counts(manifest: &Manifest, outcomes: &[Outcome]) -> Option<Counts> {
    let few = outcomes.len() <= MOST_POINTS;
    few.then(|| Counts::of(manifest, outcomes, &catalogue()))?
}

/// `page`, a report, with everything that prices its study anew; where it is served, `run` is the address that runs what was not counted.
pub fn turnable(page: String, counts: &Counts, run: Option<&str>) -> String {
    let written = serde_json::to_string(counts);
    let parts = || {
        let (head, rest) = page.split_once("</style>")?;
        let (top, rest) = rest.split_once("<main>")?;
        let (main, end) = rest.rsplit_once("</body>")?;
        Some((head, top, main, end))
    };
    let (Some((head, top, main, end)), Ok(written)) = (parts(), written) else {
        return page;
    };
    // Nothing in a script ends it but its own end.
    let written = written.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let module = STANDARD.encode(MODULE);
    let panel = PANEL.replacen("{run}", run.unwrap_or_default(), 1);
    format!(
        "{head}{STYLE}</style>{top}{panel}<main>{main}\
         <script type=\"application/json\" id=\"counts\">{written}</script>\n\
         <script type=\"text/plain\" id=\"module\">{module}</script>\n\
         <script>\n{EXPORTS}{SCRIPT}</script>\n</body>{end}"
    )
}
