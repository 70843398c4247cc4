//! Constants of nature and of CACTI's circuit method, each with its origin.
//!
//! Widths and distances are in units of the feature size F. They are rules of the method (CACTI 5.1 TR, HPL-2008-20, section 3; the same values
//! stand in CACTI 7, parameter.cc:1175-1225), not properties of one node.

use crate::quantity::{
    CapacitancePerLength, CurrentPerLength, Energy, Length, Resistivity, Time, Voltage,
};

/// Boltzmann's constant, in joule per kelvin (CODATA 2018, exact).
pub const BOLTZMANN: f64 = 1.380_649e-23;
/// Temperature at which the values of the `silicon` library are stated, in kelvin.
pub const REFERENCE_KELVIN: f64 = 300.0;
/// Permittivity of free space (CODATA 2018, rounded as CACTI 7 const.h has it).
pub const VACUUM_PERMITTIVITY: CapacitancePerLength = CapacitancePerLength::from_f_per_m(8.854e-12);

/// Smallest NMOS, in F.
pub const MIN_NMOS: f64 = 1.5;
/// Largest NMOS that a driver may use before it is split, in F.
pub const MAX_NMOS: f64 = 100.0;
/// Height of a standard cell, in F.
pub const CELL_HEIGHT: f64 = 50.0;
/// Height of a row decoder's driver, in heights of the memory cell.
pub const DECODER_CELLS: f64 = 4.0;
/// Power rail, in F.
pub const POWER_RAIL: f64 = 2.0;
/// Gap between P and N diffusion, in F.
pub const GAP_P_TO_N: f64 = 5.0;
/// Gap between diffusions of one type, in F.
pub const GAP_SAME_TYPE: f64 = 1.5;
/// Contact to a gate, in F.
pub const CONTACT: f64 = 1.0;
/// Gate to contact, in F.
pub const GATE_TO_CONTACT: f64 = 1.0;
/// Gate to gate without a contact in between, in F.
pub const GATE_TO_GATE: f64 = 1.5;
/// Gap in the cell array for wordline straps, in F, once every [`STITCH_CELLS`] cells.
pub const STITCH: f64 = 7.5;
/// Cells between wordline straps.
pub const STITCH_CELLS: f64 = 16.0;

/// Sense amplifier: NMOS of the latch, in F.
pub const SENSE_N: f64 = 3.75;
/// Sense amplifier: PMOS of the latch, in F.
pub const SENSE_P: f64 = 7.5;
/// Sense amplifier: enable transistor, in F.
pub const SENSE_ENABLE: f64 = 5.0;
/// Sense amplifier: isolation transistor, in F.
pub const SENSE_ISOLATION: f64 = 12.5;
/// Bitline and sense amplifier multiplexers, in smallest NMOS.
pub const MUX: f64 = 6.0;
/// Bitline precharge PMOS, in smallest PMOS.
pub const PRECHARGE: f64 = 6.0;
/// Bitline equaliser PMOS, in smallest PMOS.
pub const EQUALISER: f64 = 1.0;
/// Fraction of the supply that a bitline swings for a read ...
pub const SENSE_FRACTION: f64 = 0.05;
/// ... but at least this much.
pub const SENSE_MINIMUM: Voltage = Voltage::from_mv(80.0);

/// Tag comparator: PMOS and NMOS of its three inverters, in F (scaled from a 0.8 um process).
pub const COMPARATOR_INVERTERS: [(f64, f64); 3] = [(12.5, 7.5), (25.0, 15.0), (50.0, 30.0)];
/// Tag comparator: PMOS and NMOS of the evaluation inverter, in F.
pub const COMPARATOR_EVALUATION: (f64, f64) = (100.0, 50.0);
/// Tag comparator: PMOS and NMOS of the compare stage, in F.
pub const COMPARATOR_COMPARE: (f64, f64) = (37.5, 12.5);
/// Tag comparator: switching threshold of the inverters, as a fraction of the supply.
pub const THRESHOLD_COMPARE_INVERTER: f64 = 0.437;
/// Tag comparator: switching threshold of the evaluation inverter.
pub const THRESHOLD_EVALUATION: f64 = 0.452;
/// Tag comparator: switching threshold of the gate behind it.
pub const THRESHOLD_MUX_NAND: f64 = 0.548;

/// Effort of a stage (CACTI 5.1 TR, section 4.1; Amrutur and Horowitz, 2001).
pub const STAGE_EFFORT: f64 = 4.0;
/// Leakage of two transistors off in series over that of one (CACTI 7, basic_circuit.h:42).
pub const STACK_FACTOR: f64 = 0.43;
/// Slope factor of Horowitz's delay for a rising input (Horowitz, 1984; CACTI 7, basic_circuit.cc:367).
pub const HOROWITZ_RISE: f64 = 0.5;
/// Slope factor for a falling input.
pub const HOROWITZ_FALL: f64 = 0.4;
/// Gate to drain overlap over the ideal gate capacitance (CACTI 7, parameter.cc:314).
pub const OVERLAP: f64 = 0.2;

/// Resistivity of copper in repeated wires (CACTI 6.0 TR; CACTI 7, const.h).
pub const COPPER: Resistivity = Resistivity::from_ohm_um(0.022);
/// Scattering factor in repeated wires (CACTI 7, wire.cc).
pub const REPEATED_SCATTER: f64 = 1.05;
/// The same in CACTI 6.5, where dishing of the wire is part of it (CACTI 6.5, wire.cc).
pub const REPEATED_DISHING: f64 = 1.1;

/// Low-swing wires: resistance of the driver at its low supply over that at the full one (CACTI 6.0 TR, section 2.3; wire.cc).
pub const LOW_SWING_RESISTANCE: f64 = 8.6;
/// Low-swing wires: the driver is sized for so many delays of an inverter that drives four.
pub const LOW_SWING_FO4: f64 = 8.0;
/// Low-swing wires: swing at the receiver, in volts.
pub const LOW_SWING: f64 = 0.1;
/// Low-swing wires: supply of the driver, in volts.
pub const LOW_SWING_OVERDRIVE: f64 = 0.4;
/// Low-swing wires: part of the swing at which the receiver takes over.
pub const LOW_SWING_THRESHOLD: f64 = 0.25;
/// Low-swing wires: node, delay and energy of the receiver (CACTI 6.0 TR; CACTI 7, tech_params/*.dat, sense_delay and sense_dy_power).
const LOW_SWING_RECEIVERS: [(f64, f64, f64); 5] = [
    (22.0, 30.0, 2.16),
    (32.0, 30.0, 2.16),
    (45.0, 40.0, 2.7),
    (65.0, 200.0, 5.7),
    (90.0, 280.0, 14.7),
];

/// Delay and energy of the receiver of a low-swing wire: those of the next smaller node in CACTI's table, or of its ends.
pub fn low_swing_receiver(node: Length) -> (Time, Energy) {
    let fits = |row: &&(f64, f64, f64)| row.0 <= node.as_nm() + 0.5;
    let (_, delay, energy) = LOW_SWING_RECEIVERS
        .iter()
        .rev()
        .find(fits)
        .unwrap_or(&LOW_SWING_RECEIVERS[0]);
    (Time::from_ps(*delay), Energy::from_fj(*energy))
}

/// Short-circuit current of a repeater per width (Banerjee and Mehrotra, IEEE TED 2002).
pub const SHORT_CIRCUIT: CurrentPerLength = CurrentPerLength::from_ua_per_um(65.0);
/// ln 3, the short-circuit window of a repeater in time constants (same source, rounded as CACTI has it).
pub const SHORT_CIRCUIT_WINDOW: f64 = 1.0986;
/// ln 2, rounded as CACTI has it for repeated wires.
pub const LN_2: f64 = 0.693;

/// Boltzmann's constant over the charge of an electron, in volts per kelvin (CODATA 2018).
pub const BOLTZMANN_OVER_CHARGE: f64 = 8.617_333e-5;
/// Ideality of sub-threshold conduction, 90 mV a decade at 300 K (bulk 80 to 100, FinFETs 65 to 75; Taur and Ning, section 3.1.3).
pub const SUBTHRESHOLD_IDEALITY: f64 = 1.5;
/// Drain-induced barrier lowering in volts per volt (bulk 0.08 to 0.15, FinFETs 0.03 to 0.06).
pub const DIBL: f64 = 0.1;
/// Exponent of the alpha-power law for the on-current (Sakurai and Newton, 1990; 1.3 for short channels).
pub const ALPHA_POWER: f64 = 1.3;
/// Resistance of a transistor that is fully on with little voltage across it, over supply / on-current: published linear currents at 50 mV are 0.12 to 0.17 of
/// the saturated ones at 1 V (Mistry et al., IEDM 2007; Natarajan et al., IEDM 2008).
pub const LINEAR_REGION: f64 = 0.35;
/// Largest current of an access over its average: a triangular pulse.
pub const PEAK_CURRENT: f64 = 2.0;
/// Charge of a gate with its drivers of effort four over that of the gate alone: 1 + 1/4 + 1/16 + ...
pub const DRIVER_CHAIN: f64 = 4.0 / 3.0;
/// Width of all transistors over those that leak: one of the two of an inverter.
pub const WIDTH_PER_LEAKING_WIDTH: f64 = 2.0;
/// Share of nodes that are high: complementary logic and cells hold as many ones as zeros.
pub const NODES_HIGH: f64 = 0.5;
/// Local wires along a row of standard cells: the rail, and signals over half of the ten tracks of which half are high.
pub const WIRES_IN_A_ROW: f64 = 3.5;
/// Lowest supply that keeps the data of cells, over the nominal one (CACTI 7, parameter.cc:1111; McPAT 1.3 has 0.6).
pub const RETENTION: f64 = 0.65;
/// Width that a read port of two transistors adds to a memory cell, over that of the six-transistor cell: 8T over 6T is 1.3 in IBM's 65 nm (Chang et al., VLSI
/// 2005) and 1.3 to 2.0 from 22 nm to 7 nm (NeuroSim 1.4 manual, Table V).
pub const EIGHT_T_READ_PORT: f64 = 0.35;
/// Time that self-timed sensing waits over that of a typical cell: the weakest of many cells drives about two thirds of a typical current (six sigma of 6 %),
/// and the amplifier's offset asks for more than CACTI's swing. Fitted by estimator/validation/examples/calibrate_macros.rs: 0.28 rms of the logarithms in the fit, 0.17
/// held out. Between 1.2 and 2.
pub const SELF_TIMING_MARGIN: f64 = 1.35;

/// Where a library has no drive law of its own, the alpha-power law is used from this many thresholds ...
pub const LOWEST_SUPPLY: f64 = 1.6;
/// ... to this multiple of the nominal supply.
pub const HIGHEST_SUPPLY: f64 = 1.2;
/// Contacted gate pitch that the layout rules make: a contact, two gaps to gates and one gate, in F.
pub const GATE_PITCH: f64 = CONTACT + 2.0 * GATE_TO_CONTACT + 1.0;
/// Factor on Horowitz's delay of a stage where the on-resistance is fitted to chains of inverters: sqrt(ln 2 / (1 + ln 2)), with which equal stages, each
/// behind a ramp of twice its delay, take ln 2 time constants.
pub const RAMPED: f64 = 0.639_8;
/// Temperature for which structures are sized where on-resistances depend on it.
pub const DESIGN_TEMPERATURE: crate::quantity::Temperature =
    crate::quantity::Temperature::from_k(350.0);

/// CAM cell: height in heights of the memory cell, which is as wide (CACTI 7, tech_params: 292 F2 with an aspect of 2.92 beside 146 F2 with 1.46).
pub const CAM_CELL: f64 = 2.0;
/// Between the two halves of a CAM's match line: the gate that joins them (16) and the drivers of the data's wordline (128), in local wire pitches (CACTI 7,
/// subarray.cc).
pub const CAM_MIDDLE: f64 = 144.0;
/// NAND that joins the two halves of a match line: NMOS and PMOS, in F. This and the following widths are those of a 0.8 um process (Wilton and Jouppi, WRL
/// 93/5, appendix), scaled as they are (CACTI 7, mat.cc).
pub const CAM_NAND: (f64, f64) = (62.5, 62.5);
/// Inverter behind the NAND of the dummy row: NMOS and PMOS, in F.
pub const CAM_DUMMY_INVERTER: (f64, f64) = (75.0, 100.0);
/// NOR in front of the match output of a row: NMOS and PMOS, in F.
pub const CAM_NOR: (f64, f64) = (6.25, 12.5);
/// Switching thresholds of the match path, as fractions of the supply: the search line, the match line, the dummy inverter, the NOR (WRL 93/5).
pub const CAM_THRESHOLDS: [f64; 4] = [0.304, 0.420, 0.413, 0.405];
/// What surrounds a compiled memory, in F: power ring, guard ring, self-test, the distance that its compiler keeps. Fitted by
/// estimator/validation/examples/calibrate_macros.rs: 0.19 rms of the logarithms in the fit, 0.18 held out. Between 50 and 160.
pub const MACRO_RING: f64 = 105.0;
