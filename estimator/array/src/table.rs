//! An answer as text.

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use warpwatt_circuit::{Cost, Organisation, Spec};
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};

use super::answer::figures;
use super::{Answer, Figure, ports_text};
use crate::uncertainty::CONFIDENCE;

impl Answer {
    /// Figures with their intervals, the parts they are made of, the organisation, and what is behind them.
    pub fn table(&self) -> String {
        let technology = &self.technology;
        let flavours = self.query.flavours;
        let mut text = format!(
            "{}\n{}, {} cells, {} periphery, {:.1} K, {:.3} V, library {}, profile {}\n{}\n\n",
            structure(&self.query.spec),
            technology.node,
            flavours.cell,
            flavours.periphery,
            technology.temperature_k,
            technology.vdd_v,
            technology.library,
            technology.profile,
            self.cost.model,
        );
        text.push_str(&figures_text(&self.cost));
        let _ = writeln!(
            text,
            "interval: where the figure of hardware lies with a probability of {:.0} %\n",
            CONFIDENCE * 100.0
        );
        text.push_str(&breakdown_text(&self.cost));
        text.push_str(&organisations(&self.cost));
        for other in &self.cost.alternatives {
            let _ = writeln!(
                text,
                "instead: {}: {}, {}, {} a read, {} leakage",
                other.model, other.area, other.access_time, other.read_energy, other.leakage
            );
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        let counts = &technology.provenance;
        let _ = writeln!(
            text,
            "values of the technology: {} published, {} measured, {} scaled, {} fitted, {} assumed; sources with --json",
            counts.published, counts.measured, counts.scaled, counts.fitted, counts.assumed
        );
        text
    }
}

/// The structure in words.
fn structure(spec: &Spec) -> String {
    let banks = |count: u32| {
        if count > 1 {
            format!(", {count} banks")
        } else {
            String::new()
        }
    };
    let out =
        |bits: Option<u64>| bits.map_or_else(String::new, |bits| format!(", {bits} bits out"));
    match spec {
        Spec::Ram(s) => format!(
            "memory of {} words of {} bits{}, {}{}",
            s.words,
            s.bits,
            out(s.out_bits),
            ports_text(s.ports),
            banks(s.banks)
        ),
        Spec::Cache(s) => format!(
            "cache of {} sets, {} ways, lines of {} bits{}, {}{}",
            s.sets,
            s.ways,
            s.line_bits,
            out(s.out_bits),
            ports_text(s.ports),
            banks(s.banks)
        ),
        Spec::FullyAssociative(s) => format!(
            "fully associative cache of {} lines of {} bits{}, {}{}",
            s.entries,
            s.line_bits,
            out(s.out_bits),
            ports_text(s.ports),
            banks(s.banks)
        ),
        Spec::Cam(s) => format!(
            "content-addressable memory of {} entries of {} bits, {}{}",
            s.entries,
            s.bits,
            ports_text(s.ports),
            banks(s.banks)
        ),
        Spec::Buffer(s) => format!(
            "buffer of {} words of {} bits, {}",
            s.entries,
            s.bits,
            ports_text(s.ports)
        ),
        Spec::Tags(s) => format!(
            "tags of {} sets, {} ways, {} bits a tag, {}",
            s.sets,
            s.ways,
            s.tag_bits,
            ports_text(s.ports)
        ),
        Spec::CacheData(s) => format!(
            "data of {} sets, {} ways, lines of {} bits, {}",
            s.sets,
            s.ways,
            s.line_bits,
            ports_text(s.ports)
        ),
        other => format!("{other:?}"),
    }
}

fn figures_text(cost: &Cost) -> String {
    let mut table = plain(["figure", "value", "interval"]);
    for figure in figures(cost) {
        let (name, _) = figure.key.rsplit_once('_').unwrap_or((figure.key, ""));
        let interval = figure.interval();
        table.add_row([
            name.replace('_', " "),
            shown(&figure, figure.value),
            format!(
                "{} to {}",
                shown(&figure, interval.low),
                shown(&figure, interval.high)
            ),
        ]);
    }
    format!("{table}\n")
}

/// A value in the unit that suits it.
fn shown(figure: &Figure, value: f64) -> String {
    match figure.key.rsplit_once('_').map(|(_, unit)| unit) {
        Some("m2") => Area::from_si(value).to_string(),
        Some("m") => Length::from_si(value).to_string(),
        Some("s") => Time::from_si(value).to_string(),
        Some("j") => Energy::from_si(value).to_string(),
        _ => Power::from_si(value).to_string(),
    }
}

fn breakdown_text(cost: &Cost) -> String {
    let mut table = plain(["part", "delay", "read energy", "leakage", "area"]);
    let or_none = |zero: bool, text: String| if zero { "-".to_owned() } else { text };
    for part in &cost.breakdown {
        let cells = [
            or_none(part.delay.si() == 0.0, part.delay.to_string()),
            or_none(part.read_energy.si() == 0.0, part.read_energy.to_string()),
            or_none(part.leakage.si() == 0.0, part.leakage.to_string()),
            or_none(part.area.si() == 0.0, part.area.to_string()),
        ];
        if cells.iter().any(|cell| cell != "-") {
            table.add_row([&[part.name.clone()][..], &cells].concat());
        }
    }
    format!("{table}\n")
}

fn organisations(cost: &Cost) -> String {
    let sides = [
        ("tags", cost.tag.as_deref().and_then(|tag| tag.organisation)),
        (
            if cost.data.is_some() { "data" } else { "array" },
            cost.data
                .as_deref()
                .map_or(cost.organisation, |data| data.organisation),
        ),
    ];
    let lines = sides
        .into_iter()
        .filter_map(|(name, of)| Some(line(name, &of?)));
    lines.collect()
}

fn line(name: &str, of: &Organisation) -> String {
    let slices = match of.slices {
        1 => String::new(),
        slices => format!(" of each of {slices} slices"),
    };
    format!(
        "{name}: {} subarrays of {} rows x {} columns, {} at work in an access (Ndwl {}, Ndbl {}, Nspd {}, Ndcm {}, Ndsam {} x {}{slices})\n",
        of.subarrays,
        of.rows,
        of.cols,
        of.active_subarrays,
        of.ndwl,
        of.ndbl,
        of.nspd,
        of.ndcm,
        of.ndsam1,
        of.ndsam2
    )
}

fn plain<const N: usize>(heading: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(heading);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
