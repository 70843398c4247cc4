//! A report's page, made so that it can be turned.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use warpwatt_pricing::outcome::Outcome;
use warpwatt_run::again::Counts;
use warpwatt_store::Manifest;

use warpwatt_analysis::run::catalogue;

/// The models, a WebAssembly module compressed by gzip; `module/build.sh` makes it from this crate.
pub const MODULE: &[u8] = include_bytes!("../module/page.wasm.gz");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");
const PANEL: &str = include_str!("panel.html");

/// More points than are priced while one waits.
pub const MOST_POINTS: usize = 200;

/// `page`, the report of these results, with everything that prices the study anew. The page as it is if they are too many, or if what was counted does not
/// follow from them.
pub fn with_instrument(page: String, manifest: &Manifest, outcomes: &[Outcome]) -> String {
    if outcomes.len() > MOST_POINTS {
        return page;
    }
    let counts = Counts::of(manifest, outcomes, &catalogue());
    let counts = counts.and_then(|counts| serde_json::to_string(&counts).ok());
    let parts = (page.split_once("</style>"), counts);
    let (Some((head, rest)), Some(counts)) = parts else {
        return page;
    };
    let Some((top, main)) = rest.split_once("<main>") else {
        return page;
    };
    let Some((main, end)) = main.rsplit_once("</body>") else {
        return page;
    };
    // Nothing in a script ends it but its own end.
    let counts = counts.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let module = STANDARD.encode(MODULE);
    format!(
        "{head}{STYLE}</style>{top}{PANEL}<main>{main}\
         <script type=\"application/json\" id=\"counts\">{counts}</script>\n\
         <script type=\"text/plain\" id=\"module\">{module}</script>\n\
         <script>\n{SCRIPT}</script>\n</body>{end}"
    )
}
