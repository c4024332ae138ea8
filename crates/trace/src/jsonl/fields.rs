//! One line as named fields, and the fields as typed values.
//!
//! The struct that a derive would give cannot say *which* field has the wrong type, takes `null` for
//! an absent field, and does not know which fields an operation has. So the fields of a line are
//! collected as they come, and [`Fields`] keeps account of those that were asked for: what is left
//! over at the end does not belong there. Knows no operation, and **never** touches a table.

use super::words::{self, Words};
use crate::error::{Malformed, Place, quote};
use crate::ids::ExprId;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

macro_rules! fields {
    ($($variant:ident $name:literal,)*) => {
        /// A field of a line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Field { $($variant),* }

        impl Field {
            const ALL: &'static [Field] = &[$(Field::$variant),*];

            /// Its name in the line.
            pub(super) const fn name(self) -> &'static str {
                match self { $(Field::$variant => $name),* }
            }

            fn from_name(name: &str) -> Option<Field> {
                match name { $($name => Some(Field::$variant),)* _ => None }
            }
        }
    };
}

// In the order in which the writer writes them.
fields! {
    Thread "thread",
    Op "op",
    Key "key",
    Target "target",
    Offset "offset",
    Lock "lock",
    Mode "mode",
    Phase "phase",
    Wake "wake",
    Success "success",
    Source "source",
    Size "size",
    Value "value",
    Written "written",
    Order "order",
    More "more",
    Count "count",
    Code "code",
    Expr "expr",
    Of "of",
    Holds "holds",
    Operator "operator",
    Width "width",
    Bits "bits",
    Operands "operands",
    File "file",
    Line "line",
    Function "function",
}

impl Field {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

const FIELDS: usize = Field::ALL.len();
const _: () = assert!(FIELDS <= 32, "a set of fields is one u32");

/// The fields of one line.
pub(super) struct Fields<'a> {
    /// The line's number, for errors.
    line: u64,
    values: [Option<Json<'a>>; FIELDS],
    /// The fields present and not asked for yet.
    left: u32,
    /// The fields asked for so far.
    asked: u32,
}

impl<'a> Fields<'a> {
    /// Takes a line apart; `number` is its number.
    pub(super) fn parse(line: &'a [u8], number: u64) -> Result<Self, Malformed> {
        let malformed = |found: String, expected: &str| Malformed::new(Place::Line(number), found, expected);
        if line.last() == Some(&b'\r') {
            return Err(malformed("a carriage return at the end of the line".to_owned(), "a line feed alone"));
        }
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(malformed(format!("{}, which is not UTF-8", quote(line)), "UTF-8 text"));
        };
        match text.trim_start_matches([' ', '\t']).bytes().next() {
            Some(b'{') => {}
            None => return Err(malformed("a blank line".to_owned(), "a JSON object")),
            Some(_) => return Err(malformed(quote(line), "a JSON object")),
        }
        let mut fields = Fields { line: number, values: [const { None }; FIELDS], left: 0, asked: 0 };
        let mut refused = None;
        let mut json = serde_json::Deserializer::from_str(text);
        let outcome = Collect { fields: &mut fields, refused: &mut refused }.deserialize(&mut json);
        match outcome.and_then(|()| json.end()) {
            Ok(()) => Ok(fields),
            Err(error) => Err(refused.unwrap_or_else(|| {
                let message = error.to_string();
                // The parser sees one line and calls it line 1.
                let message = message.split(" at line ").next().unwrap_or_default();
                malformed(format!("broken JSON at column {} ({message})", error.column()), "one JSON object")
            })),
        }
    }

    /// A defect of the line.
    pub(super) fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        Malformed::new(Place::Line(self.line), found, expected)
    }

    /// A defect of one field.
    pub(super) fn wrong(&self, field: Field, found: &str, expected: impl Into<String>) -> Malformed {
        self.malformed(format!("{found} in field \"{}\"", field.name()), expected)
    }

    fn take(&mut self, field: Field) -> Option<Json<'a>> {
        self.asked |= field.bit();
        self.left &= !field.bit();
        self.values[field as usize].take()
    }

    fn missing(&self, field: Field) -> Malformed {
        self.malformed(format!("no field \"{}\"", field.name()), "one")
    }

    /// Text that is not empty.
    pub(super) fn text(&mut self, field: Field) -> Result<Cow<'a, str>, Malformed> {
        self.text_if_any(field)?.ok_or_else(|| self.missing(field))
    }

    /// Text that is not empty, or nothing.
    pub(super) fn text_if_any(&mut self, field: Field) -> Result<Option<Cow<'a, str>>, Malformed> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Text(text)) if !text.is_empty() => Ok(Some(text)),
            Some(other) => Err(self.wrong(field, &other.describe(), "text that is not empty")),
        }
    }

    /// Text that may be empty.
    pub(super) fn any_text(&mut self, field: Field) -> Result<Cow<'a, str>, Malformed> {
        match self.take(field) {
            None => Err(self.missing(field)),
            Some(Json::Text(text)) => Ok(text),
            Some(other) => Err(self.wrong(field, &other.describe(), "text")),
        }
    }

    /// One of these words, or nothing.
    pub(super) fn word_if_any<T: Copy>(&mut self, field: Field, among: &Words<T>) -> Result<Option<T>, Malformed> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Text(text)) if let Some(meaning) = words::meaning(among, &text) => Ok(Some(meaning)),
            Some(other) => Err(self.wrong(field, &other.describe(), words::all(among))),
        }
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&mut self, field: Field, among: &Words<T>) -> Result<T, Malformed> {
        self.word_if_any(field, among)?.ok_or_else(|| self.missing(field))
    }

    /// `true` or `false`, or nothing.
    pub(super) fn truth_if_any(&mut self, field: Field) -> Result<Option<bool>, Malformed> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Truth(truth)) => Ok(Some(truth)),
            Some(other) => Err(self.wrong(field, &other.describe(), "true or false")),
        }
    }

    /// `true` or `false`.
    pub(super) fn truth(&mut self, field: Field) -> Result<bool, Malformed> {
        self.truth_if_any(field)?.ok_or_else(|| self.missing(field))
    }

    /// A number from zero to `T`'s largest, or nothing.
    pub(super) fn number_if_any<T: TryFrom<u64> + Largest>(&mut self, field: Field) -> Result<Option<T>, Malformed> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Unsigned(number)) if let Ok(number) = T::try_from(number) => Ok(Some(number)),
            Some(other) => {
                let expected = format!("an integer from 0 to {}", T::LARGEST);
                Err(self.wrong(field, &other.describe(), expected))
            }
        }
    }

    /// A number from zero to `T`'s largest.
    pub(super) fn number<T: TryFrom<u64> + Largest>(&mut self, field: Field) -> Result<T, Malformed> {
        self.number_if_any(field)?.ok_or_else(|| self.missing(field))
    }

    /// A number that may be negative, or nothing.
    pub(super) fn signed_if_any(&mut self, field: Field) -> Result<Option<i64>, Malformed> {
        match self.take(field) {
            None => Ok(None),
            Some(Json::Negative(number)) => Ok(Some(number)),
            Some(Json::Unsigned(number)) if let Ok(number) = i64::try_from(number) => Ok(Some(number)),
            Some(other) => {
                Err(self.wrong(field, &other.describe(), format!("an integer from {} to {}", i64::MIN, i64::MAX)))
            }
        }
    }

    /// A value of `size` bytes (zero: unknown), or nothing. A negative one is stored as the two's
    /// complement of that size, or of eight bytes if the size is unknown.
    pub(super) fn value_if_any(&mut self, field: Field, size: u64) -> Result<Option<u64>, Malformed> {
        let bytes = if size == 0 { 8 } else { size.min(8) };
        let unused_bits = 64 - 8 * bytes as u32;
        let (smallest, largest) = (i64::MIN >> unused_bits, u64::MAX >> unused_bits);
        match self.take(field) {
            None => Ok(None),
            Some(Json::Unsigned(value)) if value <= largest => Ok(Some(value)),
            Some(Json::Negative(value)) if value >= smallest => Ok(Some(value as u64 & largest)),
            Some(other) => {
                let expected = format!("an integer from {smallest} to {largest}");
                Err(self.wrong(field, &other.describe(), expected))
            }
        }
    }

    /// An expression.
    pub(super) fn expr(&mut self, field: Field) -> Result<ExprId, Malformed> {
        let json = self.take(field).ok_or_else(|| self.missing(field))?;
        json.expr().ok_or_else(|| self.wrong(field, &json.describe(), EXPR))
    }

    /// As many expressions as `out` has places.
    pub(super) fn exprs(&mut self, field: Field, out: &mut [ExprId]) -> Result<(), Malformed> {
        let list = match self.take(field) {
            None => return Err(self.missing(field)),
            Some(Json::List(list)) if list.len() == out.len() => list,
            Some(Json::List(list)) => {
                let expected = format!("a list of {}", out.len());
                return Err(self.wrong(field, &format!("a list of {}", list.len()), expected));
            }
            Some(other) => return Err(self.wrong(field, &other.describe(), format!("a list of {}", out.len()))),
        };
        for (place, json) in out.iter_mut().zip(list) {
            *place = json.expr().ok_or_else(|| self.wrong(field, &json.describe(), EXPR))?;
        }
        Ok(())
    }

    /// Whether a field that was not asked for yet is there.
    pub(super) fn has(&self, field: Field) -> bool {
        self.left & field.bit() != 0
    }

    /// Checks that every field has been asked for.
    pub(super) fn finish(&self, op: &str) -> Result<(), Malformed> {
        let Some(surplus) = Field::ALL.iter().find(|&&field| self.has(field)) else { return Ok(()) };
        let known: Vec<&str> =
            Field::ALL.iter().filter(|field| self.asked & field.bit() != 0).map(|field| field.name()).collect();
        Err(self.malformed(
            format!("field \"{}\" in {}", surplus.name(), quote(op.as_bytes())),
            format!("at most {}", known.join(", ")),
        ))
    }
}

const EXPR: &str = "an expression such as \"e12\" or 12";

/// The largest number of a type, for messages.
pub(super) trait Largest {
    const LARGEST: u64;
}

impl Largest for u8 {
    const LARGEST: u64 = u8::MAX as u64;
}

impl Largest for u32 {
    const LARGEST: u64 = u32::MAX as u64;
}

impl Largest for u64 {
    const LARGEST: u64 = u64::MAX;
}

/// A JSON value, as much of it as any field needs.
enum Json<'a> {
    Null,
    Truth(bool),
    Unsigned(u64),
    Negative(i64),
    /// A number that is no integer, or none of 64 bits.
    OtherNumber,
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object,
}

impl Json<'_> {
    /// What it is, for a message.
    fn describe(&self) -> String {
        match self {
            Json::Null => "null".to_owned(),
            Json::Truth(truth) => truth.to_string(),
            Json::Unsigned(number) => number.to_string(),
            Json::Negative(number) => number.to_string(),
            Json::OtherNumber => "a fraction or a number too large".to_owned(),
            Json::Text(text) => quote(text.as_bytes()),
            Json::List(_) => "a list".to_owned(),
            Json::Object => "an object".to_owned(),
        }
    }

    fn expr(&self) -> Option<ExprId> {
        let raw = match self {
            Json::Unsigned(number) => u32::try_from(*number).ok(),
            Json::Text(text) => {
                let digits = text.strip_prefix('e')?;
                // `parse` takes a sign and zeros in front; names should have one spelling.
                digits.parse().ok().filter(|number: &u32| number.to_string() == digits)
            }
            _ => None,
        };
        raw.map(ExprId::new)
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson)
    }
}

struct AnyJson;

impl<'de> Visitor<'de> for AnyJson {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Json::Truth(truth))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Json::Unsigned(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(number).map_or(Json::Negative(number), Json::Unsigned))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Json::OtherNumber)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Json::Object)
    }
}

/// Collects the fields of an object. A refusal of ours is left in `refused`, because an error of
/// the parser holds nothing but text.
struct Collect<'f, 'a> {
    fields: &'f mut Fields<'a>,
    refused: &'f mut Option<Malformed>,
}

impl<'de> DeserializeSeed<'de> for Collect<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Json<'de>>()? {
            // Keys are text, or the parser has refused them.
            let Json::Text(name) = name else { return Err(A::Error::custom("a key that is no text")) };
            let Some(field) = Field::from_name(&name) else {
                let known: Vec<&str> = Field::ALL.iter().map(|field| field.name()).collect();
                let found = format!("field {}", quote(name.as_bytes()));
                *self.refused = Some(self.fields.malformed(found, format!("one of {}", known.join(", "))));
                return Err(A::Error::custom("unknown field"));
            };
            if self.fields.has(field) {
                let found = format!("field \"{}\" twice", field.name());
                *self.refused = Some(self.fields.malformed(found, "each field once"));
                return Err(A::Error::custom("duplicate field"));
            }
            self.fields.values[field as usize] = Some(map.next_value()?);
            self.fields.left |= field.bit();
        }
        Ok(())
    }
}
