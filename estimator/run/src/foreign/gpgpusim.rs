//! What GPGPU-Sim prints after every kernel: lines `name = value`, of which most are sums since the start of the program.

use std::collections::BTreeMap;

use super::{Launch, Problem};

/// The line with which the statistics of a kernel begin.
const KERNEL: &str = "kernel_name";

pub(super) fn read(text: &str, per_kernel: &[String]) -> Result<Vec<Launch>, Vec<Problem>> {
    let mut launches: Vec<Launch> = Vec::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if name == KERNEL {
            launches.push(Launch {
                kernel: value.to_owned(),
                ..Launch::default()
            });
            continue;
        }
        if name.is_empty() || name.contains(['\t', ':', ',']) {
            continue;
        }
        let value = value.split_whitespace().next().unwrap_or_default();
        let value: Option<f64> = value.trim_end_matches(['%', ',']).parse().ok();
        let value = value.filter(|value| value.is_finite());
        if let (Some(launch), Some(value)) = (launches.last_mut(), value) {
            launch.values.insert(name.to_owned(), value);
        }
    }
    apart(&mut launches, per_kernel);
    Ok(launches)
}

/// Turns sums since the start into what each kernel adds. A sum that falls has begun anew.
fn apart(launches: &mut [Launch], per_kernel: &[String]) {
    let mut before: BTreeMap<String, f64> = BTreeMap::new();
    for launch in launches {
        for (name, value) in &mut launch.values {
            if per_kernel.contains(name) {
                continue;
            }
            let total = *value;
            let earlier = before.insert(name.clone(), total).unwrap_or(0.0);
            if earlier <= total {
                *value = total - earlier;
            }
        }
    }
}
