use std::sync::Arc;

use warpwatt_circuit::{Gated, Granularity, Spec, Uncertainty};
use warpwatt_techlib::quantity::{Area, Energy, Length, Power, Time};

use super::*;
use crate::validate::Status;

/// Circuits that answer with the paper's own Table 1: every check of it must hold, and none if everything is twice as large.
#[derive(Debug)]
struct FromThePaper {
    rows: Vec<(Spec, StructureRow)>,
    factor: f64,
}

impl Circuits for FromThePaper {
    fn cost(&self, spec: &Spec) -> Result<Arc<Cost>, CircuitError> {
        let known = self.rows.iter().find(|(known, _)| known == spec);
        let row = known.map_or_else(
            || StructureRow {
                name: String::new(),
                area_um2: 1.0,
                leakage_mw: 7.46,
                energy_pj: 1.0,
                delay_ps: 1.0,
            },
            |(_, row)| row.clone(),
        );
        Ok(Arc::new(Cost {
            area: Area::from_um2(row.area_um2 * self.factor),
            height: Length::from_um(1.0),
            width: Length::from_um(1.0),
            access_time: Time::from_ps(row.delay_ps * self.factor),
            cycle_time: Time::from_ps(row.delay_ps),
            read_energy: Energy::from_pj(row.energy_pj * self.factor),
            write_energy: Energy::from_pj(row.energy_pj),
            search_energy: None,
            leakage: Power::from_mw(row.leakage_mw * self.factor),
            gate_leakage: Power::from_mw(0.0),
            breakdown: Vec::new(),
            organisation: None,
            model: "Table 1".to_owned(),
            uncertainty: Uncertainty {
                area: 0.0,
                delay: 0.0,
                energy: 0.0,
                leakage: 0.0,
                method: 0.0,
            },
            tag: None,
            data: None,
            alternatives: Vec::new(),
            gated: None,
            limits: None,
        }))
    }

    /// The paper switches nothing off.
    fn gated(&self, _: &Spec, _: Granularity) -> Result<Gated, CircuitError> {
        Err(CircuitError::Gating {
            what: "loss",
            got: 0.0,
            low: 0.0,
            high: 0.0,
        })
    }
}

fn checks(factor: f64) -> Vec<Check> {
    let paper = FilterCachePaper::load();
    let gpu = GpuSpec::preset("tesla-16sm").unwrap();
    let base = baseline::structures(&gpu);
    let mut rows: Vec<(Spec, StructureRow)> = base
        .iter()
        .filter_map(|s| {
            Some((
                s.spec.clone(),
                paper.structure(&s.name.replace('.', "_"))?.clone(),
            ))
        })
        .collect();
    for entries in [32, 16] {
        rows.extend(filter_cache(&gpu, entries).into_iter().filter_map(|s| {
            let name = s.name.replace("filter_cache.", "fc_");
            Some((
                s.spec,
                paper.structure(&format!("{name}_{entries}"))?.clone(),
            ))
        }));
    }
    assert_eq!(
        rows.len(),
        9,
        "every row of Table 1 has a structure of ours"
    );
    let circuits = FromThePaper { rows, factor };
    let setting = Setting {
        circuits: &circuits,
        gpu: &gpu,
        paper: &paper,
    };
    filter_cache_circuits(&setting).unwrap()
}

#[test]
fn the_papers_own_table_passes() {
    let checks = checks(1.0);
    assert_eq!(checks.len(), 9 * 4 + 4 + 5);
    let table: Vec<&Check> = checks.iter().filter(|c| c.place == "Table 1").collect();
    assert!(table.iter().all(|check| check.status == Status::Holds));
    let delays = checks.iter().filter(|c| c.unit == "ns");
    assert!(delays.clone().count() == 2 && delays.into_iter().all(|c| c.status == Status::Holds));
}

#[test]
fn a_table_twice_as_large_fails_everywhere() {
    let checks = checks(2.0);
    let table = checks.iter().filter(|c| c.place == "Table 1");
    assert!(table.into_iter().all(|check| check.status == Status::Gap));
}
