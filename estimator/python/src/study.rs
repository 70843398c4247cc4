//! Studies and questions: read, run, and what their points tell.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpwatt_analysis::explain::{explain, text};
use warpwatt_analysis::run::cache::{DEFAULT_LIMIT, TraceCache};
use warpwatt_analysis::run::drive::{News, Work};
use warpwatt_analysis::run::elsewhere::Elsewhere;
use warpwatt_analysis::run::kept::{Begin, Keeping, Told, Whole, manifest};
use warpwatt_analysis::run::work::{Executed, StudyWork};
use warpwatt_analysis::run::{Means, Resolved, parameters, resolve, resolve_text, run_in_memory};
use warpwatt_analysis::uncertainty::{ProcessVariation, with_uncertainty};
use warpwatt_input::diag::{Diag, Sink, Sources};
use warpwatt_input::goal::{Better, Objective};
use warpwatt_pricing::outcome::Outcome;
use warpwatt_pricing::recipe::Recipes;
use warpwatt_report::metric::Metrics;
use warpwatt_report::pareto::Fronts;
use warpwatt_report::select::select;
use warpwatt_report::sheet::Sheet;
use warpwatt_report::{Details, Picture, Report, Table as Which, beside};
use warpwatt_simt::Interrupt;
use warpwatt_study::Question;

use crate::at_work::at_work;
use crate::errors::{Error, refused, rejected};
use crate::table::Table;
use crate::workers::{Hands, Sent};

/// A study that can run.
#[pyclass(frozen, module = "warpwatt._native")]
pub struct Study {
    resolved: Resolved,
    sources: Sources,
    /// The last execution whose units were worked on here.
    last: Mutex<(usize, Shared)>,
}

/// An execution, for all that wait for it.
type Shared = Arc<Mutex<Option<Arc<Executed>>>>;

/// How a study is run.
#[derive(FromPyObject)]
struct How {
    jobs: Option<u16>,
    /// A directory of results, which is gone on with.
    out: Option<PathBuf>,
    /// A directory of traces.
    cache: Option<PathBuf>,
    /// Called with the points that are done, and of how many.
    progress: Option<Py<PyAny>>,
    /// Who does the units.
    workers: Option<Py<PyAny>>,
}

#[pymethods]
impl Study {
    /// A study file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        at_work(py, |_| {
            let mut sink = Sink::default();
            let resolved = resolve(&path, &mut sink);
            Self::of(resolved, sink)
        })
    }

    /// A study as text; files that it names are looked for in `directory`.
    #[staticmethod]
    fn text(py: Python<'_>, name: &str, text: &str, directory: PathBuf) -> PyResult<Self> {
        at_work(py, |_| {
            let mut sink = Sink::default();
            let resolved = resolve_text(name, text, &directory, &mut sink);
            Self::of(resolved, sink)
        })
    }

    /// A question as `warpwatt what-if` asks it: kernels, techniques, settings, and keys of the GPU.
    #[staticmethod]
    fn question(
        py: Python<'_>,
        kernels: Vec<String>,
        techniques: Vec<String>,
        settings: Vec<String>,
        gpu: [Option<String>; 9],
    ) -> PyResult<Self> {
        at_work(py, |_| {
            let mut sink = Sink::default();
            let given = GPU.into_iter().zip(gpu);
            let question = Question {
                kernels,
                techniques,
                settings,
                gpu: given
                    .filter_map(|(key, value)| Some((key, value?)))
                    .collect(),
                ..Question::default()
            };
            let text = question.study(&mut sink);
            let name = "the question, as a study";
            let resolved =
                text.and_then(|text| resolve_text(name, &text, Path::new(""), &mut sink));
            Self::of(resolved, sink)
        })
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        &self.resolved.study.title
    }

    /// Its text.
    #[getter]
    fn source(&self) -> &str {
        self.sources.text(self.resolved.source)
    }

    /// Its points.
    fn __len__(&self) -> usize {
        self.resolved.plan.points.len()
    }

    /// Runs it.
    fn run(&self, py: Python<'_>, how: How) -> PyResult<Results> {
        at_work(py, |stop| {
            let hands = how.workers.as_ref();
            let hands = hands.map(|workers| Hands::new(workers, &self.resolved.plan, stop));
            let outcomes = self.outcomes(&how, hands.as_ref(), stop);
            let raised = hands.and_then(Hands::raised);
            let outcomes =
                outcomes.map_err(|diag| raised.unwrap_or_else(|| refused(diag, &self.sources)))?;
            self.results(&outcomes)
        })
    }

    /// Does a unit for somebody who runs the study: what its points come out as.
    fn work<'py>(
        &self,
        py: Python<'py>,
        unit: Sent,
        jobs: u16,
        cache: Option<PathBuf>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let done = at_work(py, |stop| {
            let done = self.unit(unit, jobs, cache, stop);
            done.map_err(|diag| refused(diag, &self.sources))
        })?;
        Ok(PyBytes::new(py, &done))
    }
}

/// Keys of a question's GPU, in the order in which they are handed over.
const GPU: [&str; 9] = [
    "preset",
    "node",
    "library",
    "flavour",
    "temperature",
    "vdd",
    "lower",
    "clock",
    "board",
];

impl Study {
    fn of(resolved: Option<Resolved>, sink: Sink) -> PyResult<Self> {
        match resolved {
            Some(resolved) if !sink.has_errors() => Ok(Self {
                resolved,
                sources: sink.sources,
                last: Mutex::default(),
            }),
            _ => Err(rejected(&sink)),
        }
    }

    fn outcomes(
        &self,
        how: &How,
        hands: Option<&Hands<'_>>,
        stop: Interrupt,
    ) -> Result<Vec<Outcome>, Diag> {
        let points = self.resolved.plan.points.len();
        let mut done = 0;
        let mut tell = |news: News| {
            if let News::Finished { points: more } = news {
                done += more;
                show(how, done, points);
            }
        };
        let cache = how.cache.clone();
        let cache = cache.map(|directory| TraceCache::new(directory, DEFAULT_LIMIT));
        let means = Means {
            jobs: how.jobs,
            cache: cache.as_ref(),
            interrupt: Some(stop),
            elsewhere: hands.map(|hands| hands as &dyn Elsewhere),
        };
        let Some(directory) = &how.out else {
            let finished = vec![false; points];
            return run_in_memory(&self.resolved, &self.sources, &finished, means, tell);
        };
        let manifest = manifest(
            &self.resolved,
            &self.sources,
            parameters(&self.resolved.plan),
        );
        let whole = Whole {
            resolved: &self.resolved,
            sources: &self.sources,
            manifest: &manifest,
        };
        let keeping = Keeping {
            directory,
            begin: Begin::Resume,
            shard: None,
            means,
        };
        let store = whole.finish(keeping, |told| {
            if let Told::News(news) = told {
                tell(news);
            }
        })?;
        store.collect(&manifest).map_err(|error| error.diag())
    }

    /// What the points of a unit come out as, in bytes.
    fn unit(
        &self,
        sent: Sent,
        jobs: u16,
        cache: Option<PathBuf>,
        stop: Interrupt,
    ) -> Result<Vec<u8>, Diag> {
        let plan = &self.resolved.plan;
        let unit = sent.unit(plan)?;
        let cache = cache.map(|directory| TraceCache::new(directory, DEFAULT_LIMIT));
        let mut work = self.resolved.work(&self.sources, cache.as_ref());
        work.interrupt = Some(stop);
        let failed = |error: &dyn std::fmt::Display| Diag::error("run::defect", error.to_string());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs));
        let pool = pool.build().map_err(|error| failed(&error))?;
        let outcomes = pool.install(|| {
            let executed = self.executed(&work, unit.execution)?;
            let timed = work.time(&executed, &unit.run)?;
            work.price(&timed, &unit.run, &unit.run.points)
        })?;
        serde_json::to_vec(&outcomes).map_err(|error| failed(&error))
    }

    /// An execution: the last one, or a new one, which others who want it wait for.
    fn executed(&self, work: &StudyWork<'_>, execution: usize) -> Result<Arc<Executed>, Diag> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != execution {
            *last = (execution, Shared::default());
        }
        let shared = Arc::clone(&last.1);
        drop(last);
        let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executed) = &*kept {
            return Ok(Arc::clone(executed));
        }
        let executed = Arc::new(work.execute(execution)?.trace);
        *kept = Some(Arc::clone(&executed));
        Ok(executed)
    }

    fn results(&self, outcomes: &[Outcome]) -> PyResult<Results> {
        let study = &self.resolved.study;
        let beside = beside::load(study.paper.as_deref());
        let report = Report::beside(&study.title, outcomes, beside);
        let recipes = Recipes::from(&self.resolved.plan).at_rest(outcomes);
        let report = report.with_goals(study.budget.as_ref(), &study.pareto);
        let report = report.and_then(|report| match study.uncertainty {
            Some(draws) => with_uncertainty(report, &recipes, draws),
            None => Ok(report),
        });
        Ok(Results {
            report: report.map_err(|diag| refused(diag, &self.sources))?,
            recipes,
            variation: study.uncertainty.and_then(|draws| draws.process),
        })
    }
}

/// Tells how far it is. What goes wrong there is no matter of the run.
fn show(how: &How, done: usize, points: usize) {
    if let Some(progress) = &how.progress {
        Python::attach(|py| drop(progress.call1(py, (done, points))));
    }
}

/// What a study came out as.
#[pyclass(frozen, module = "warpwatt._native")]
pub struct Results {
    report: Report,
    recipes: Recipes,
    variation: Option<ProcessVariation>,
}

#[pymethods]
impl Results {
    /// Names of the tables that there are.
    fn tables(&self) -> Vec<&'static str> {
        let there = |table: &Which| self.report.sheet(*table).is_some();
        let tables = Which::ALL.into_iter().filter(there);
        tables.map(Which::name).collect()
    }

    /// The table of that name; nothing if the study has none.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Option<Table>> {
        let found = Which::ALL.into_iter().find(|table| table.name() == name);
        let sheet = found.and_then(|table| py.detach(|| self.report.sheet(table)));
        sheet.map(|sheet| Table::of(&sheet)).transpose()
    }

    /// The points that no other beats in all of the metrics, `(name, whether more is better)` each; what they are drawn with.
    fn pareto(&self, objectives: Vec<(String, Option<bool>)>) -> PyResult<(Table, Compared)> {
        let known = Metrics::known().with_points(&self.report.points);
        let wrong = |diag: Diag| refused(diag, &Sources::default());
        let wanted: PyResult<Vec<Objective>> = objectives
            .into_iter()
            .map(|(metric, maximise)| {
                let usual = known.find(&metric).map_err(wrong)?.better() == Better::Higher;
                Ok(Objective {
                    maximise: maximise.unwrap_or(usual),
                    metric,
                })
            })
            .collect();
        let fronts = Fronts::of(&self.report, &wanted?).map_err(wrong)?;
        let on: BTreeSet<usize> = fronts
            .fronts
            .iter()
            .flat_map(|front| front.points.clone())
            .collect();
        let points = self.report.sheet(Which::Points).unwrap_or_default();
        let rows = points.rows.into_iter().enumerate();
        let rows = rows.filter(|(number, _)| on.contains(number));
        let table = Table::of(&Sheet {
            columns: points.columns,
            rows: rows.map(|(_, row)| row).collect(),
        })?;
        let candidates = fronts.fronts.iter().flat_map(|front| {
            let named = front.candidates.iter();
            named.map(|point| (front.kernel.name.clone(), *point))
        });
        let candidates = candidates.filter_map(|(kernel, point)| {
            Some((kernel, fronts.values[point].clone()?, on.contains(&point)))
        });
        let metrics = fronts.metrics.iter();
        let metrics = metrics.map(|metric| (metric.name().to_owned(), metric.unit().to_owned()));
        Ok((
            table,
            Compared {
                candidates: candidates.collect(),
                metrics: metrics.collect(),
                pictures: pictures(self.report.pictures_of(&fronts)),
            },
        ))
    }

    /// The pictures that answer.
    fn pictures(&self, py: Python<'_>) -> Pictures {
        py.detach(|| pictures(self.report.pictures()))
    }

    /// Where a figure comes from: the document of `warpwatt explain --json`, and its text.
    fn explain(
        &self,
        py: Python<'_>,
        point: &str,
        metric: &str,
        depth: usize,
    ) -> PyResult<(String, String)> {
        at_work(py, |_| {
            let wrong = |diag: Diag| refused(diag, &Sources::default());
            let points = &self.report.points;
            let metric = Metrics::known()
                .with_points(points)
                .find(metric)
                .map_err(wrong)?;
            let number = select(point, points).map_err(wrong)?;
            let variation = self.variation;
            let explained = explain(&self.report, &self.recipes, variation, &metric, number);
            let explained = explained.map_err(wrong)?;
            let document = serde_json::to_string(&explained);
            let document = document.map_err(|error| Error::new_err(error.to_string()))?;
            Ok((document, text(&explained, depth)))
        })
    }

    /// The answer as text.
    fn text(&self, width: usize) -> String {
        self.report.terminal(width, &Details::default())
    }

    /// The report as a page of HTML.
    fn page(&self) -> PyResult<String> {
        self.report
            .html()
            .map_err(|error| Error::new_err(error.to_string()))
    }

    /// The document of `warpwatt what-if --json`, but for its inputs.
    fn document(&self) -> PyResult<String> {
        self.report
            .json()
            .map_err(|error| Error::new_err(error.to_string()))
    }
}

/// What a front is drawn with.
#[derive(IntoPyObject)]
struct Compared {
    /// Points that compete: kernel, values of the metrics, whether it is on the front.
    candidates: Vec<(String, Vec<f64>, bool)>,
    /// The metrics, each with its unit.
    metrics: Vec<(String, String)>,
    pictures: Pictures,
}

/// Pictures: what each shows, what its marks are, and SVG.
pub(crate) type Pictures = Vec<(String, String, String)>;

pub(crate) fn pictures(all: Vec<Picture>) -> Pictures {
    let all = all.into_iter();
    all.map(|picture| (picture.heading, picture.caption.into_owned(), picture.svg))
        .collect()
}
