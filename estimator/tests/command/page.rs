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

#[test]
fn no_text_of_a_chart_overlaps_another_or_is_cut() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: there is no chromium to look at the page with (apt install chromium)");
        return;
    };
    let scratch = Scratch::new();
    let page = fs::read_to_string(page(&scratch)).unwrap();
    // WARPWATT_PAGE_DIR keeps the page and its pictures for a look.
    let kept = std::env::var_os("WARPWATT_PAGE_DIR").map(PathBuf::from);
    let looked = scratch.write(
        "looked.html",
        &page.replace("</body>", &format!("{LOOK}</body>")),
    );
    for width in [1280, 640, 390] {
        let size = format!("--window-size={width},1000");
        let dom = browse(
            browser,
            &looked,
            &scratch.path("profile"),
            &["--dump-dom", &size],
        );
        let title = dom
            .split("<title>")
            .nth(1)
            .unwrap()
            .split("</title>")
            .next()
            .unwrap();
        let title = title
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        let found: Value = serde_json::from_str(&title).unwrap_or_else(|_| panic!("{title}"));
        for kind in [
            "icache",
            "breakdown",
            "hits",
            "line",
            "registers",
            "pareto",
            "trend",
        ] {
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
