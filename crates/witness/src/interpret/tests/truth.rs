//! Whether the rules are right: what the model admits, the program that left the trace can do.
//!
//! Small programs with branches, run once as the dice say, leave a trace that tells what depends on what was read. All
//! their runs are tried, with the values that come of them.

use crate::interpret::{InitialValues, Program};
use crate::reference::feasible_triples_within;
use crate::testing::Trace;
use interloper_model::{AccessKind, Pattern, RegionSources};
use interloper_trace::{
    Access, BoundValue, Event, Expr, ExprId, Op, Operator, Region, RegionSource, SiteId, Tables, ThreadId, Value,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug)]
enum Instruction {
    /// Reads a variable into a new register; bound or not.
    Load { variable: usize, bound: bool },
    /// Writes a constant.
    Store { variable: usize, value: u64 },
    /// Writes the last register plus one, and says so if that is bound.
    Copy { variable: usize },
    /// Writes the sum of all registers, and does not say so.
    Sum { variable: usize },
    /// Passes over the next instruction if the last register is odd; an assumption, if that is bound, or a branch.
    SkipIfOdd { told: bool },
}

/// Two variables are of all threads, one is of each thread alone.
const SHARED: usize = 2;
const SIZE: u32 = 4;

type Code = Vec<Vec<Instruction>>;
/// Thread and place in its code.
type Point = (usize, usize);

#[derive(Clone)]
struct Machine<'c> {
    code: &'c Code,
    next: Vec<usize>,
    memory: Vec<u64>,
    /// Of each thread its registers, with what they are bound to.
    registers: Vec<Vec<(u64, Option<ExprId>)>>,
}

/// What an instruction did.
struct Done {
    at: Point,
    variable: usize,
    kind: AccessKind,
    value: u64,
}

impl<'c> Machine<'c> {
    fn new(code: &'c Code) -> Self {
        let threads = code.len();
        let memory = vec![0; SHARED + threads];
        Machine { code, next: vec![0; threads], memory, registers: vec![Vec::new(); threads] }
    }

    /// Goes on to a thread's next access, and does it. `told` hears what else a recorder would say.
    fn step(&mut self, thread: usize, told: &mut dyn FnMut(Op)) -> Option<Done> {
        loop {
            let at = (thread, self.next[thread]);
            let instruction = *self.code[thread].get(at.1)?;
            self.next[thread] += 1;
            let last = self.registers[thread].last().copied();
            let place = |variable: usize| if variable < SHARED { variable } else { SHARED + thread };
            let (variable, kind, value) = match instruction {
                Instruction::SkipIfOdd { told: is_told } => {
                    let Some((value, expr)) = last else { continue };
                    match expr.filter(|_| is_told) {
                        Some(expr) => told(Op::Assume { expr, holds: value % 2 == 1 }),
                        None => told(Op::Branch { count: 1 }),
                    }
                    self.next[thread] += usize::from(value % 2 == 1);
                    continue;
                }
                Instruction::Load { variable, .. } => (place(variable), AccessKind::Read, self.memory[place(variable)]),
                Instruction::Store { variable, value } => (place(variable), AccessKind::Write, value),
                Instruction::Copy { variable } => {
                    (place(variable), AccessKind::Write, (last.map_or(0, |last| last.0) + 1) % 4)
                }
                Instruction::Sum { variable } => {
                    let sum: u64 = self.registers[thread].iter().map(|register| register.0).sum();
                    (place(variable), AccessKind::Write, sum % 4)
                }
            };
            match instruction {
                Instruction::Load { .. } => self.registers[thread].push((value, None)),
                _ => self.memory[variable] = value,
            }
            return Some(Done { at, variable, kind, value });
        }
    }
}

/// A run as a recorder would tell it, and which point of the code each event is.
fn record(code: &Code, dice: &[u8]) -> (Trace, Vec<Option<Point>>) {
    let mut tables = Tables::new();
    let locations: Vec<_> = (0..SHARED + code.len())
        .map(|variable| {
            let name = tables.strings.intern(&format!("v{variable}")).expect("a name");
            tables.intern_location_in(name, 0).expect("a location")
        })
        .collect();
    for thread in 0..code.len() {
        tables.intern_thread(&format!("T{thread}")).expect("a thread");
    }
    let mut machine = Machine::new(code);
    let mut trace = Trace { events: Vec::new(), tables };
    let mut points = Vec::new();
    let mut push = |thread: usize, op: Op, point: Option<Point>| {
        trace.events.push(Event { thread: ThreadId::new(thread as u32), site: SiteId::UNKNOWN, op });
        points.push(point);
    };
    for thread in 0..code.len() {
        push(thread, Op::RegionBegin(Region { name: None, source: RegionSource::Annotated }), None);
    }
    let mut fresh = (0..).map(ExprId::new);
    for dice in dice {
        let thread = usize::from(*dice) % code.len();
        let Some(done) = machine.step(thread, &mut |op| push(thread, op, None)) else { continue };
        let value = Value::known(done.value);
        let access = Access { size: SIZE, value, ..Access::bare(locations[done.variable]) };
        let mut define = |expr: Expr| {
            let id = fresh.next().expect("there are enough");
            (id, Op::Define { id, expr })
        };
        let constant = Expr::Constant { width: 32, bits: 1 };
        let last = machine.registers[thread].last().and_then(|register| register.1);
        match code[thread][done.at.1] {
            Instruction::Load { bound, .. } => {
                push(thread, Op::Read(access), Some(done.at));
                if bound {
                    let expr = fresh.next().expect("there are enough");
                    push(thread, Op::Bind { expr, of: BoundValue::Read }, None);
                    machine.registers[thread].last_mut().expect("it has read").1 = Some(expr);
                }
            }
            Instruction::Store { .. } => {
                let (expr, defined) = define(constant);
                push(thread, defined, None);
                push(thread, Op::Write(access), Some(done.at));
                push(thread, Op::Bind { expr, of: BoundValue::Written }, None);
            }
            Instruction::Copy { .. } if last.is_some() => {
                let (one, defined) = define(constant);
                push(thread, defined, None);
                let operands = [last.unwrap_or(one), one, one];
                let (sum, defined) = define(Expr::Apply { operator: Operator::Add, width: 32, operands });
                push(thread, defined, None);
                push(thread, Op::Write(access), Some(done.at));
                push(thread, Op::Bind { expr: sum, of: BoundValue::Written }, None);
            }
            _ => push(thread, Op::Write(access), Some(done.at)),
        }
    }
    (trace, points)
}

/// All triples of points that some run shows.
fn shown(machine: &Machine<'_>, run: &mut Vec<Done>, all: &mut BTreeSet<[Point; 3]>) {
    for thread in 0..machine.code.len() {
        let mut next = machine.clone();
        let Some(second) = next.step(thread, &mut |_| {}) else { continue };
        for (at, first) in run.iter().enumerate().filter(|(_, first)| first.at.0 == thread) {
            for remote in run[at + 1..].iter().filter(|remote| remote.at.0 != thread) {
                let is_one = first.variable == remote.variable && remote.variable == second.variable;
                if is_one && Pattern::of(first.kind, remote.kind, second.kind).is_some() {
                    all.insert([first.at, remote.at, second.at]);
                }
            }
        }
        run.push(second);
        shown(&next, run, all);
        run.pop();
    }
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let variable = || prop_oneof![Just(0), Just(0), Just(1), Just(SHARED)];
    prop_oneof![
        4 => (variable(), prop::bool::weighted(0.8)).prop_map(|(variable, bound)| Instruction::Load { variable, bound }),
        3 => (variable(), 0..3_u64).prop_map(|(variable, value)| Instruction::Store { variable, value }),
        2 => variable().prop_map(|variable| Instruction::Copy { variable }),
        1 => variable().prop_map(|variable| Instruction::Sum { variable }),
        2 => any::<bool>().prop_map(|told| Instruction::SkipIfOdd { told }),
    ]
}

fn feasible(trace: &Trace) -> BTreeSet<(usize, usize, usize)> {
    let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
    feasible_triples_within(&program, RegionSources::default_choice(), 100_000).unwrap_or_default()
}

/// The same trace without what reads are bound to.
fn unbound(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    for event in &mut trace.events {
        if let Op::Bind { of: BoundValue::Read, .. } = event.op {
            event.op = Op::Mark { code: 0 };
        }
    }
    trace
}

/// A program that is scheduled as a schedule of the model says makes the accesses that this has, one by one.
fn follows(code: &Code, trace: &Trace, points: &[Option<Point>], dice: &[(u8, u8)]) -> Result<(), TestCaseError> {
    let program = Program::new(&trace.events, &trace.tables, InitialValues::Zero);
    let mut machine = Machine::new(code);
    let order = super::walk(&program, dice);
    for &event in &order {
        let point = points[event].expect("an access");
        let done = machine.step(point.0, &mut |_| {}).map(|done| done.at);
        prop_assert_eq!(done, Some(point), "{:?} {:?}", order, trace);
    }
    Ok(())
}

#[test]
fn what_the_model_admits_the_program_can_do() {
    let code = prop_oneof![
        prop::collection::vec(prop::collection::vec(instruction(), 2..7), 2),
        prop::collection::vec(prop::collection::vec(instruction(), 1..4), 3),
    ];
    let dice = prop::collection::vec(any::<u8>(), 16);
    // What the model admits, what it admits only because reads may change, and what the program can do.
    let counts = Cell::new([0; 3]);
    let config = ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&(code, dice, super::dice()), |(code, dice, walk)| {
            let (trace, points) = record(&code, &dice);
            follows(&code, &trace, &points, &walk)?;
            let mut truth = BTreeSet::new();
            shown(&Machine::new(&code), &mut Vec::new(), &mut truth);
            let (with, without) = (feasible(&trace), feasible(&unbound(&trace)));
            prop_assert!(without.is_subset(&with), "{trace:?}");
            for &(first, remote, second) in &with {
                let points = [first, remote, second].map(|event| points[event].expect("an access"));
                prop_assert!(truth.contains(&points), "{points:?} {:?} {trace:?}", [first, remote, second]);
            }
            let [admitted, gained, possible] = counts.get();
            let gain = with.len() - without.len();
            counts.set([admitted + with.len(), gained + gain, possible + truth.len()]);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let [admitted, gained, possible] = counts.get();
    println!("{admitted} of {possible} triples that happen are in the model, {gained} as reads may change");
    assert!(gained > 300 && admitted < possible, "{:?}", counts.get());
}
