//! What the circuit models say, with what stands behind it.

use statrs::distribution::{ContinuousCDF, Normal};
use warpwatt_circuit::{Cost, Profile, Uncertainty};
use warpwatt_techlib::Technology;

use super::{Libraries, LibraryName, Query, Refusal};
use crate::outcome::TechnologyName;
use crate::pricing::{NodeCircuits, technology_name, technology_notes};
use crate::uncertainty::CONFIDENCE;

/// A query with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What was asked.
    pub query: Query,
    /// The technology of the periphery, and where its numbers are from.
    pub technology: TechnologyName,
    /// What it costs.
    pub cost: Cost,
    /// What the reader must know about question, technology and structure.
    pub notes: Vec<String>,
}

/// One figure of a structure, in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Name with its unit: `read_energy_j`.
    pub key: &'static str,
    /// The value.
    pub value: f64,
    /// One relative standard deviation.
    pub uncertainty: f64,
}

/// Where a figure lies with probability [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Figure {
    /// The interval, for normal errors; no figure is negative.
    pub fn interval(&self) -> Interval {
        let z = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
        let half = z * self.uncertainty * self.value;
        Interval {
            low: (self.value - half).max(0.0),
            high: self.value + half,
        }
    }
}

impl Query {
    /// The answer, with technologies that have been read.
    ///
    /// # Errors
    /// There is no such technology or structure.
    pub fn answer(self, libraries: &Libraries) -> Result<Answer, Refusal> {
        let of = |flavour| libraries.get(self.library, self.node, flavour);
        let (cell, periphery) = (of(self.flavours.cell)?, of(self.flavours.periphery)?);
        self.clone().answer_in(cell, periphery)
    }

    /// The answer in technologies of one's own, whatever library and node the query names.
    ///
    /// # Errors
    /// There is no such structure in them.
    pub fn answer_in(
        mut self,
        cell: &Technology,
        periphery: &Technology,
    ) -> Result<Answer, Refusal> {
        let cost = self.cost(cell, periphery)?;
        Ok(Answer::new(self, (cell, periphery), cost))
    }

    /// The cost alone with its notes, without what a report says about the technology.
    pub(crate) fn price(mut self, libraries: &Libraries) -> Result<(Cost, Vec<String>), Refusal> {
        let of = |flavour| libraries.get(self.library, self.node, flavour);
        let (cell, periphery) = (of(self.flavours.cell)?, of(self.flavours.periphery)?);
        let cost = self.cost(cell, periphery)?;
        let mut notes = self.notes;
        notes.extend(limits(&cost, self.settings.profile));
        Ok((cost, notes))
    }
}

impl Answer {
    fn new(query: Query, technologies: (&Technology, &Technology), cost: Cost) -> Self {
        let (cell, periphery) = technologies;
        let circuits = |technology: &Technology| {
            NodeCircuits::new(technology.clone(), query.point, query.settings.profile)
        };
        let technology = technology_name(&circuits(periphery));
        let mut notes = query.notes.clone();
        notes.extend(limits(&cost, query.settings.profile));
        if query.library == LibraryName::Silicon && query.settings.profile != Profile::Silicon {
            notes.push(format!(
                "{} is a model of its own tables; here it runs on other ones",
                query.settings.profile
            ));
        }
        let of_both = technology_notes(&circuits(periphery))
            .into_iter()
            .chain(technology_notes(&circuits(cell)));
        for note in of_both {
            let text = note.text.to_string();
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
        Self {
            query,
            technology,
            cost,
            notes,
        }
    }
}

/// What a structure is beyond the limits of the tool that its profile stands for.
pub(super) fn limits(cost: &Cost, profile: Profile) -> Vec<String> {
    if profile == Profile::Silicon {
        return cost.limits.iter().cloned().collect();
    }
    let beyond = |cost: &Cost| {
        cost.limits.clone().or_else(|| {
            let small = cost.tag.is_none() && cost.model.contains("smaller than CACTI accepts");
            small.then(|| {
                "CACTI has no organisation for it (rows or sets too few); the same equations without its limits".to_owned()
            })
        })
    };
    let sides = [Some(cost), cost.tag.as_deref(), cost.data.as_deref()];
    let mut notes: Vec<String> = sides.into_iter().flatten().filter_map(beyond).collect();
    notes.dedup();
    notes
}

/// The figures of a structure that it has, in the order in which reports show them.
pub(super) fn figures(cost: &Cost) -> Vec<Figure> {
    let Uncertainty {
        area,
        delay,
        energy,
        leakage,
        ..
    } = cost.uncertainty;
    let figure = |key, value, uncertainty| Figure {
        key,
        value,
        uncertainty,
    };
    let mut figures = vec![
        figure("area_m2", cost.area.si(), area),
        // A length is off by half as much as the area, to first order.
        figure("width_m", cost.width.si(), area / 2.0),
        figure("height_m", cost.height.si(), area / 2.0),
        figure("access_time_s", cost.access_time.si(), delay),
        figure("cycle_time_s", cost.cycle_time.si(), delay),
        figure("read_energy_j", cost.read_energy.si(), energy),
        figure("write_energy_j", cost.write_energy.si(), energy),
    ];
    if let Some(search) = cost.search_energy {
        figures.push(figure("search_energy_j", search.si(), energy));
    }
    figures.push(figure("leakage_w", cost.leakage.si(), leakage));
    figures.push(figure("gate_leakage_w", cost.gate_leakage.si(), leakage));
    if let Some(gated) = &cost.gated {
        let left = (gated.leakage + gated.gate_leakage).si();
        figures.push(figure("gated_leakage_w", left, leakage));
        figures.push(figure("wake_time_s", gated.wake_time.si(), delay));
        figures.push(figure("wake_energy_j", gated.wake_energy.si(), energy));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_as_far_below_as_above_and_never_negative() {
        let of = |uncertainty| Figure {
            key: "area_m2",
            value: 2.0,
            uncertainty,
        };
        let interval = of(0.3).interval();
        approx::assert_relative_eq!(interval.low + interval.high, 4.0, max_relative = 1e-12);
        // 1.96 standard deviations.
        approx::assert_relative_eq!(interval.high, 2.0 + 2.0 * 0.588, max_relative = 1e-4);
        assert_eq!(of(0.9).interval().low, 0.0);
    }
}
