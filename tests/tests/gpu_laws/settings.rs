//! Whatever settings are set to: a GPU is refused with the paths of what is wrong, or its run comes to an end and nothing is lost on the way.

use std::sync::Arc;

use proptest::prelude::*;
use toml::{Table, Value};
use warpwatt_gpu::{GpuSpec, Hooks, Preset, presets, simulate};
use warpwatt_simt::trace::{
    KernelTrace, LaunchShape, MemoryOpKind, Space, StaticInst, Unit, WarpRecorder,
};

use super::conserved;
use crate::gpu_support::{access, add, barrier, exit, inst};

/// Every setting, by its path.
fn paths(table: &Table, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => found.extend(paths(inner, &format!("{path}."))),
            _ => found.push(path),
        }
    }
    found
}

fn set(table: &mut Table, path: &str, value: Value) {
    let mut inner = table;
    let mut names: Vec<&str> = path.split('.').collect();
    let key = names.pop().unwrap();
    for name in names {
        inner = inner[name].as_table_mut().unwrap();
    }
    inner.insert(key.to_owned(), value);
}

/// Something of everything that a warp can do, in two launches' worth of CTAs.
fn everything(width: u32) -> KernelTrace {
    let kinds = [
        MemoryOpKind::Load,
        MemoryOpKind::Store,
        MemoryOpKind::Atomic,
    ];
    let mut code: Vec<StaticInst> = vec![add(1, &[2, 3]), add(4, &[1])];
    for (unit, register) in [
        (Unit::Fp32, 5),
        (Unit::Sfu, 6),
        (Unit::Fp64, 7),
        (Unit::Matrix, 8),
    ] {
        code.push(inst(unit, &[1, 4, register], &[register]));
    }
    // Results far from each other take more than one region of the scoreboard.
    code.push(inst(Unit::Int, &[1], &[13, 40, 70]));
    for space in [Space::Global, Space::Shared, Space::Local, Space::Generic] {
        code.extend(kinds.map(|kind| access(space, kind, 9)));
        code.push(add(10, &[9]));
    }
    code.push(access(Space::Const, MemoryOpKind::Load, 11));
    code.push(access(Space::Param, MemoryOpKind::Load, 12));
    code.push(inst(Unit::Control, &[1], &[]));
    code.push(inst(Unit::Fence, &[], &[]));
    code.push(barrier());
    code.push(exit());
    let shape = LaunchShape {
        grid: [3, 1, 1],
        block: [2 * width, 1, 1],
        warp_width: width,
        shared_bytes: 256,
        registers: 16,
    };
    let last = code.len() as u32 - 1;
    let memory: Vec<bool> = code.iter().map(|inst| inst.memory.is_some()).collect();
    let mut trace = KernelTrace::new("everything", Arc::from(code), shape);
    let all = u64::MAX >> (64 - width);
    let mut recorder = WarpRecorder::default();
    for warp in 0..6 {
        recorder.clear();
        for inst in (0..=last).chain(0..=last) {
            if memory[inst as usize] {
                let address = |lane: u64| 0xc000_0000 + lane * 36 + warp * 512;
                let addresses: Vec<u64> = (0..64).map(address).collect();
                recorder.access(inst, all, all & (inst as u64 * 0x9249 + 1), &addresses);
            } else {
                recorder.step(inst, all, all);
            }
        }
        trace.push_warp(&recorder).unwrap();
    }
    trace
}

/// Whether the GPU was refused; if not, its run is looked at.
fn refused(table: Table, what: &str) -> Result<bool, TestCaseError> {
    let spec = match GpuSpec::from_table(table) {
        Ok(spec) => spec,
        Err(problems) => {
            prop_assert!(!problems.is_empty(), "{what}");
            for problem in problems {
                let told = !problem.path.is_empty() && !problem.message.is_empty();
                prop_assert!(told, "{what}: {problem:?}");
            }
            return Ok(true);
        }
    };
    let trace = everything(spec.sm.warp_width);
    let instructions = trace.warp_instructions();
    match simulate(&spec, &[trace], Hooks::default()) {
        Ok(run) => {
            conserved(&spec, instructions, &run)?;
            Ok(false)
        }
        Err(error) => {
            let text = error.to_string();
            prop_assert!(text.contains("does not fit an SM"), "{what}: {text}");
            Ok(true)
        }
    }
}

/// The least and the greatest number that a setting can be, from what the refusal of one beyond them says.
fn bounds(preset: &Preset, path: &str) -> (i64, i64) {
    let mut table = preset.table();
    set(&mut table, path, Value::Integer(u32::MAX.into()));
    let problems = GpuSpec::from_table(table).unwrap_err();
    let problem = problems.iter().find(|problem| problem.path == path);
    let help = problem.unwrap_or_else(|| panic!("{path}: {problems:?}"));
    let help = help.help.as_deref().unwrap();
    let numbers: Vec<i64> = help
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    (numbers[0], numbers[1])
}

/// Values that a setting may be given by mistake or on purpose.
fn values(preset: &Preset, path: &str, own: &Value) -> Vec<Value> {
    let mut values = vec![
        Value::String("many".to_owned()),
        Value::Boolean(true),
        Value::Float(1.5),
    ];
    if !own.is_integer() {
        values.push(Value::Integer(1));
        return values;
    }
    let (least, most) = bounds(preset, path);
    let own = own.as_integer().unwrap();
    let around = [least - 1, least, least + 1, own / 2, own + 1, 2 * own];
    let more = [0, -1, 1, 2, 3, 7, 33, 64, 1000, most, most + 1, i64::MAX];
    values.extend(around.into_iter().chain(more).map(Value::Integer));
    values
}

fn value<'t>(table: &'t Table, path: &str) -> &'t Value {
    let Some((tables, key)) = path.rsplit_once('.') else {
        return &table[path];
    };
    let inner = tables
        .split('.')
        .fold(table, |inner, name| inner[name].as_table().unwrap());
    &inner[key]
}

/// Sets every setting to all that it may be set to, alone, on those presets that `wanted` picks for the how manieth trial.
fn each_alone(wanted: impl Fn(usize, usize) -> bool) {
    let (mut refusals, mut runs) = (0, 0);
    let mut trial = 0;
    for path in paths(&presets()[0].table(), "") {
        for place in 0..values(&presets()[0], &path, value(&presets()[0].table(), &path)).len() {
            trial += 1;
            for (number, preset) in presets().iter().enumerate() {
                if !wanted(trial, number) {
                    continue;
                }
                let mut table = preset.table();
                let value = values(preset, &path, value(&table, &path)).swap_remove(place);
                let what = format!("{} {path} = {value}", preset.name);
                set(&mut table, &path, value);
                match refused(table, &what) {
                    Ok(true) => refusals += 1,
                    Ok(false) => runs += 1,
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
    assert!(
        refusals > 100 && runs > 100,
        "{refusals} refused, {runs} ran"
    );
}

#[test]
fn each_setting_alone_is_refused_or_runs() {
    each_alone(|trial, preset| trial % presets().len() == preset);
}

#[test]
#[ignore = "every preset: a minute in release"]
fn each_setting_alone_is_refused_or_runs_on_every_preset() {
    each_alone(|_, _| true);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Settings that can be alone need not go together; then they are refused together.
    #[test]
    fn several_settings_together_are_refused_or_run(
        preset in prop::sample::select(presets().iter().collect::<Vec<_>>()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 1..6),
    ) {
        let own = preset.table();
        let mut table = own.clone();
        let all = paths(&own, "");
        let mut what = preset.name.to_owned();
        for (path, choice, power) in changes {
            let path = path.get(&all);
            // Of the preset, not of what an earlier change made of it: that may be the greatest integer.
            let own = value(&own, path);
            let value = match own.as_integer() {
                // Numbers near those of GPUs are the more interesting ones.
                Some(_) if power => Value::Integer(1 << choice.index(13)),
                _ => choice.get(&values(preset, path, own)).clone(),
            };
            what += &format!(" {path} = {value}");
            set(&mut table, path, value);
        }
        refused(table, &what)?;
    }
}
