//! The page in a real browser: no text of a picture overlaps another or is cut, on a wide and on a narrow window.
//!
//! Needs Chromium (Debian's package `chromium`). Without it the test says so and checks nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Scratch, stderr, warpwatt};

/// Every kind of chart: a filter cache (bars with error bars, breakdown, hit rates, ratio), renaming (heat map), several nodes (trend), objectives (scatter).
const STUDY: &str = r#"
[study]
paper = "filter_cache"
title = "Every kind of chart"
[gpu]
preset = "tesla-16sm"
node = ["45nm", "32nm", "22nm"]
[workloads]
kernels = ["vector_add", "reduction", "matrix_mul"]
[[technique]]
name = "filter_cache"
entries = [16, 32]
[[technique]]
name = "register_virtualization"
[budget]
slowdown = "1%"
[pareto]
metrics = ["energy_j", "area_m2", "time_s"]
"#;

/// Looks at the page from inside it, and leaves what it finds as its title.
const LOOK: &str = r#"<script>
const cut = [], overlaps = [], kinds = [];
const slack = 0.75;
for (const svg of document.querySelectorAll("svg.chart")) {
  const name = svg.querySelector("title").textContent;
  kinds.push(svg.querySelector("title").id);
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map(text => ({ text: text.textContent, box: text.getBoundingClientRect() }));
  for (const { text, box } of texts)
    if (box.left < frame.left - slack || box.right > frame.right + slack || box.top < frame.top - slack || box.bottom > frame.bottom + slack)
      cut.push(name + ": " + text);
  for (let i = 0; i < texts.length; i++)
    for (let j = i + 1; j < texts.length; j++) {
      const a = texts[i].box, b = texts[j].box;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Boxes of lines are higher than their letters: lines of a text may touch.
      if (wide > slack && high > 3) overlaps.push(name + ": " + texts[i].text + " / " + texts[j].text);
    }
}
for (const element of document.querySelectorAll("h1, h2, h3, p, li, caption, figcaption, dd, dt, summary"))
  if (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline") cut.push(element.tagName + ": " + element.textContent.slice(0, 80));
const unnamed = [...document.querySelectorAll("svg, .scroll[role=region]")].filter(e => !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby")).length;
const sideways = document.documentElement.scrollWidth > document.documentElement.clientWidth + 1;
document.title = JSON.stringify({ cut, overlaps, kinds, unnamed, sideways });
</script>"#;

/// Looks at colours and widths from inside the page. Contrast of text: WCAG 2.2, "relative luminance" and "contrast ratio".
const READ: &str = r#"<script>
const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const colour = text => text.match(/[\d.]+/g).map(Number);
const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const contrast = (a, b) => { const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (light + 0.05) / (dark + 0.05); };
function paper(element) {
  for (; element; element = element.parentElement) {
    const behind = colour(getComputedStyle(element).backgroundColor);
    if (behind.length < 4 || behind[3] > 0) return behind;
  }
}
const faint = new Set(), wide = new Set();
let texts = 0;
for (const element of document.querySelectorAll("body *:not(script, style, title, desc)")) {
  if (![...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim())) continue;
  texts++;
  const style = getComputedStyle(element);
  const ratio = contrast(colour(element.ownerSVGElement ? style.fill : style.color), paper(element));
  if (ratio < 4.5) faint.add(element.tagName + " " + ratio.toFixed(2) + ": " + element.textContent.slice(0, 40));
}
for (const element of document.querySelectorAll("table, svg, p, h2, h3"))
  if (element.getBoundingClientRect().right > document.documentElement.clientWidth + 1) wide.add(element.tagName + ": " + element.textContent.trim().slice(0, 60));
document.title = JSON.stringify({ texts, dark: matchMedia("(prefers-color-scheme: dark)").matches, faint: [...faint], wide: [...wide] });
</script>"#;

/// The browser, if there is one.
fn chromium() -> Option<&'static str> {
    let answers = |name: &&str| {
        let mut asked = Command::new(name);
        let asked = asked
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(answers)
}

fn browse(browser: &str, page: &Path, profile: &Path, more: &[&str]) -> String {
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.args(more).arg(format!("file://{}", page.display()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The page of [`STUDY`].
fn page(scratch: &Scratch) -> PathBuf {
    scratch.write("study.toml", STUDY);
    let run = warpwatt(&scratch.path(""), &["run", "study.toml", "--quiet"]);
    assert!(matches!(run.status.code(), Some(0 | 1)), "{}", stderr(&run));
    scratch.path("results/report.html")
}

/// The page of a run: launches of two kernels, on as many SMs as a product has.
fn kernel_page(scratch: &Scratch) -> PathBuf {
    let arguments = [
        "kernel", "bfs", "--preset", "v100", "--node", "12nm", "--page", "run.html",
    ];
    let run = warpwatt(&scratch.path(""), &arguments);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    scratch.path("run.html")
}

/// The browser; without one, says what is skipped.
fn browser() -> Option<&'static str> {
    let found = chromium();
    if found.is_none() {
        eprintln!("skipped: there is no chromium to look at the page with (apt install chromium)");
    }
    found
}

/// What a script at the end of the page leaves as its title.
fn findings(
    browser: &str,
    scratch: &Scratch,
    (page, script): (&str, &str),
    more: &[&str],
) -> Value {
    let looked = page.replace("</body>", &format!("{script}</body>"));
    let looked = scratch.write("looked.html", &looked);
    let more = [&["--dump-dom"], more].concat();
    let dom = browse(browser, &looked, &scratch.path("profile"), &more);
    let title = dom.split("<title>").nth(1).unwrap();
    let title = title
        .split("</title>")
        .next()
        .unwrap()
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&title).unwrap_or_else(|_| panic!("{title}"))
}

#[test]
fn text_stands_out_in_the_light_and_in_the_dark() {
    let Some(browser) = browser() else { return };
    let scratch = Scratch::new();
    for page in [page(&scratch), kernel_page(&scratch)] {
        let page = fs::read_to_string(page).unwrap();
        for (dark, scheme) in [(true, "0"), (false, "1")] {
            let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
            let found = findings(browser, &scratch, (&page, READ), &[&scheme]);
            assert_eq!(found["dark"], Value::Bool(dark));
            assert!(found["texts"].as_u64().unwrap() > 500, "{found}");
            assert_eq!(found["faint"], Value::Array(Vec::new()), "dark: {dark}");
        }
    }
}

/// The rules of print, on a window as wide as what is printable of a letter on its side: 11 inches less two margins of 10 mm, at 96 dots an inch.
#[test]
fn nothing_is_wider_than_paper() {
    let Some(browser) = browser() else { return };
    let scratch = Scratch::new();
    for page in [page(&scratch), kernel_page(&scratch)] {
        let page = fs::read_to_string(page).unwrap();
        let printed = page.replace("@media print {", "@media all {");
        assert_ne!(printed, page);
        let found = findings(
            browser,
            &scratch,
            (&printed, READ),
            &["--window-size=980,1000"],
        );
        assert_eq!(found["wide"], Value::Array(Vec::new()));
    }
    let sheets = scratch.path("report.pdf");
    let pdf = format!("--print-to-pdf={}", sheets.display());
    let plain = scratch.path("results/report.html");
    browse(browser, &plain, &scratch.path("profile"), &[&pdf]);
    let sheets = String::from_utf8_lossy(&fs::read(sheets).unwrap()).into_owned();
    let size = sheets.split("/MediaBox [").nth(1).unwrap();
    let size: Vec<f64> = size
        .split([' ', ']'])
        .filter_map(|n| n.parse().ok())
        .take(4)
        .collect();
    assert!(size[2] > size[3], "sheets lie on their side: {size:?}");
}

/// A page in a window so wide has charts of these kinds, and nothing of them overlaps, is cut or has no name.
fn charts_can_be_read(
    browser: &str,
    scratch: &Scratch,
    (page, width): (&str, u32),
    expected: &[&str],
) {
    let size = format!("--window-size={width},1000");
    let found = findings(browser, scratch, (page, LOOK), &[&size]);
    for kind in expected {
        let kinds = found["kinds"].as_array().unwrap();
        let drawn = kinds
            .iter()
            .any(|id| id.as_str().unwrap().starts_with(kind));
        assert!(drawn, "no chart `{kind}` in {kinds:?}");
    }
    for fault in ["cut", "overlaps"] {
        assert_eq!(
            found[fault],
            Value::Array(Vec::new()),
            "{fault} at {width} pixels"
        );
    }
    assert_eq!(
        (&found["unnamed"], &found["sideways"]),
        (&0.into(), &false.into()),
        "at {width} pixels"
    );
}

#[test]
fn no_text_of_a_chart_overlaps_another_or_is_cut() {
    let Some(browser) = browser() else { return };
    let scratch = Scratch::new();
    let run = fs::read_to_string(kernel_page(&scratch)).unwrap();
    for width in [1280, 640, 390] {
        let kinds = ["flow", "power", "cycles", "sms", "die"];
        charts_can_be_read(browser, &scratch, (&run, width), &kinds);
    }
    let page = fs::read_to_string(page(&scratch)).unwrap();
    // WARPWATT_PAGE_DIR keeps the page and its pictures for a look.
    let kept = std::env::var_os("WARPWATT_PAGE_DIR").map(PathBuf::from);
    for width in [1280, 640, 390] {
        let kinds = [
            "changes",
            "kernels",
            "roofline",
            "die",
            "flow",
            "structures",
            "icache",
            "breakdown",
            "hits",
            "line",
            "registers",
            "pareto",
            "trend",
        ];
        charts_can_be_read(browser, &scratch, (&page, width), &kinds);
        if let Some(kept) = &kept {
            fs::write(kept.join("report.html"), &page).unwrap();
            let picture = format!(
                "--screenshot={}",
                kept.join(format!("page-{width}.png")).display()
            );
            let high = format!("--window-size={width},9000");
            browse(
                browser,
                &scratch.path("results/report.html"),
                &scratch.path("profile"),
                &[&picture, &high],
            );
        }
    }
}
