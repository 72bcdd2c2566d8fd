//! The macros; the grammar is told by the module above.

/// Declares a wire object. The module's own text tells the grammar.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $name:ident { $($wire:literal = $value:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        $crate::schema::declare::object!($name = [
            $($crate::schema::declare::constant!($wire, $value),)+
        ]);

        impl $crate::schema::declare::Record for $name {
            fn write_members(&self, w: &mut $crate::json::Writer) {
                $(w.constant(concat!(",\"", $wire, "\":", stringify!($value)));)+
            }
        }

        $crate::schema::declare::readable!($name);

        impl $crate::schema::declare::FromMembers for $name {
            fn read_members(
                fields: &mut $crate::schema::declare::Fields<'_>,
            ) -> Option<Self> {
                (true $(&& fields.constant($wire, stringify!($value)))+).then_some(Self)
            }
        }
    };
    ($(#[$meta:meta])* pub struct $name:ident { $($members:tt)* }) => {
        $crate::schema::declare::record!(@fields [pub] $(#[$meta])* $name { $($members)* });
        $crate::schema::declare::record!(@read [|_: &Self| true] $name { $($members)* });
    };
    ($(#[$meta:meta])* pub sealed struct $name:ident { $($members:tt)* }) => {
        $crate::schema::declare::record!(@fields [] $(#[$meta])* $name { $($members)* });
    };
    ($(#[$meta:meta])* pub checked struct $name:ident { $($members:tt)* }) => {
        $crate::schema::declare::record!(@fields [] $(#[$meta])* $name { $($members)* });
        $crate::schema::declare::record!(@read [Self::is_sound] $name { $($members)* });
    };
    (@read [$sound:expr] $name:ident {
        $(
            $($before:literal = $value:literal,)*
            $(#[$doc:meta])*
            $presence:ident $field:ident $(as $wire:literal)?: $type:ty,
        )*
    }) => {
        $crate::schema::declare::readable!($name);

        impl $crate::schema::declare::FromMembers for $name {
            fn read_members(
                fields: &mut $crate::schema::declare::Fields<'_>,
            ) -> Option<Self> {
                $(
                    $(
                        if !fields.constant($before, stringify!($value)) {
                            return None;
                        }
                    )*
                    let $field: $type =
                        $crate::schema::declare::get!($presence fields, $field $($wire)?);
                )*
                Some(Self { $($field,)* }).filter($sound)
            }
        }
    };
    (@fields [$($vis:tt)*] $(#[$meta:meta])* $name:ident {
        $(
            $($before:literal = $value:literal,)*
            $(#[$doc:meta])*
            $presence:ident $field:ident $(as $wire:literal)?: $type:ty,
        )*
    }) => {
        $crate::schema::declare::record!(@struct [$($vis)*] $(#[$meta])* $name {
            $($(#[$doc])* $field: $type,)*
        });

        $crate::schema::declare::object!($name = [
            $(
                $($crate::schema::declare::constant!($before, $value),)*
                $crate::schema::declare::member!($presence $field $($wire)?, $type),
            )*
        ]);

        impl $crate::schema::declare::Record for $name {
            fn write_members(&self, w: &mut $crate::json::Writer) {
                $(
                    $(w.constant(concat!(",\"", $before, "\":", stringify!($value)));)*
                    $crate::schema::declare::put!($presence w, &self.$field, $field $($wire)?);
                )*
            }
        }
    };
    (@struct [pub] $(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }
    };
    (@struct [] $(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* $field: $type,)*
        }
    };
}

/// A record is the object of its members.
macro_rules! object {
    ($name:ident = [$($member:expr,)*]) => {
        impl $crate::schema::declare::Json for $name {
            const SHAPE: $crate::schema::declare::Shape =
                $crate::schema::declare::Shape::Object(&[$($member,)*]);

            fn write(&self, w: &mut $crate::json::Writer) {
                w.begin_object();
                $crate::schema::declare::Record::write_members(self, w);
                w.end_object();
            }
        }
    };
}

/// The line of a constant. Its literal reads the same in JSON as here.
macro_rules! constant {
    ($wire:literal, $value:literal) => {
        $crate::schema::declare::Member {
            name: $wire,
            presence: $crate::schema::declare::Presence::Required,
            shape: $crate::schema::declare::Shape::Constant(stringify!($value)),
        }
    };
}

/// The line of a field.
macro_rules! member {
    (required $field:ident $($wire:literal)?, $type:ty) => {
        $crate::schema::declare::member!(@ $field $($wire)?, Required, $type)
    };
    (flag $field:ident $($wire:literal)?, $type:ty) => {
        $crate::schema::declare::member!(@ $field $($wire)?, Optional, $type)
    };
    (flatten $field:ident $($wire:literal)?, $type:ty) => {
        $crate::schema::declare::member!(@ $field $($wire)?, Flattened, $type)
    };
    (nullable $field:ident $($wire:literal)?, $type:ty) => {
        $crate::schema::declare::member!(
            @ $field $($wire)?, Nullable, <$type as $crate::schema::declare::Maybe>::Inner
        )
    };
    (optional $field:ident $($wire:literal)?, $type:ty) => {
        $crate::schema::declare::member!(
            @ $field $($wire)?, Optional, <$type as $crate::schema::declare::Maybe>::Inner
        )
    };
    (@ $field:ident $($wire:literal)?, $presence:ident, $type:ty) => {
        $crate::schema::declare::Member {
            name: $crate::schema::declare::wire!($field $($wire)?),
            presence: $crate::schema::declare::Presence::$presence,
            shape: <$type as $crate::schema::declare::Json>::SHAPE,
        }
    };
}

/// Writes a field.
macro_rules! put {
    (required $w:ident, $value:expr, $field:ident $($wire:literal)?) => {
        $w.named($crate::schema::declare::spelled!($field $($wire)?));
        $crate::schema::declare::Json::write($value, $w);
    };
    (nullable $w:ident, $value:expr, $field:ident $($wire:literal)?) => {
        $w.named($crate::schema::declare::spelled!($field $($wire)?));
        match $crate::schema::declare::Maybe::inner($value) {
            Some(value) => $crate::schema::declare::Json::write(value, $w),
            None => $w.null(),
        }
    };
    (optional $w:ident, $value:expr, $field:ident $($wire:literal)?) => {
        if let Some(value) = $crate::schema::declare::Maybe::inner($value) {
            $w.named($crate::schema::declare::spelled!($field $($wire)?));
            $crate::schema::declare::Json::write(value, $w);
        }
    };
    (flag $w:ident, $value:expr, $field:ident $($wire:literal)?) => {
        if *$value {
            $w.named($crate::schema::declare::spelled!($field $($wire)?));
            $w.bool(true);
        }
    };
    (flatten $w:ident, $value:expr, $field:ident $($wire:literal)?) => {
        $crate::schema::declare::Record::write_members($value, $w);
    };
}

/// Reads a field.
macro_rules! get {
    (required $fields:ident, $field:ident $($wire:literal)?) => {
        $crate::schema::declare::FromJson::read(
            $fields.take($crate::schema::declare::wire!($field $($wire)?))?,
        )?
    };
    (nullable $fields:ident, $field:ident $($wire:literal)?) => {
        match $fields.take($crate::schema::declare::wire!($field $($wire)?))? {
            value if value.is_null() => None,
            value => Some($crate::schema::declare::FromJson::read(value)?),
        }
    };
    (optional $fields:ident, $field:ident $($wire:literal)?) => {
        match $fields.take_some($crate::schema::declare::wire!($field $($wire)?)) {
            None => None,
            Some(value) => Some($crate::schema::declare::FromJson::read(value)?),
        }
    };
    (flag $fields:ident, $field:ident $($wire:literal)?) => {
        match $fields.take_some($crate::schema::declare::wire!($field $($wire)?)) {
            None => false,
            Some(value) => value.as_bool()?,
        }
    };
    (flatten $fields:ident, $field:ident $($wire:literal)?) => {
        $crate::schema::declare::FromMembers::read_members($fields)?
    };
}

/// An object is read from its members.
macro_rules! readable {
    ($name:ident) => {
        impl $crate::schema::declare::FromJson for $name {
            fn read(value: $crate::json::Value<'_>) -> Option<Self> {
                let mut fields = $crate::schema::declare::Fields::of(value.as_object()?);
                $crate::schema::declare::FromMembers::read_members(&mut fields)
            }
        }
    };
}

/// The name on the wire: the one given, else the field's.
macro_rules! wire {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $wire:literal) => {
        $wire
    };
}

/// The name as it stands behind another member, see `Writer::named`.
macro_rules! spelled {
    ($field:ident) => {
        concat!(",\"", stringify!($field), "\":")
    };
    ($field:ident $wire:literal) => {
        concat!(",\"", $wire, "\":")
    };
}

/// Declares a closed set of words: an enum with `as_str`, `from_word` and `ALL`.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every word of the set.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The member of the set with that word, spelled exactly.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::schema::declare::Json for $name {
            const SHAPE: $crate::schema::declare::Shape =
                $crate::schema::declare::Shape::Words(&[$($word,)+]);

            fn write(&self, w: &mut $crate::json::Writer) {
                w.string(self.as_str());
            }
        }

        impl $crate::schema::declare::FromJson for $name {
            fn read(value: $crate::json::Value<'_>) -> Option<Self> {
                Self::from_word(&value.as_str()?.decode().ok()?)
            }
        }
    };
}

/// Declares a choice of records, each with a constant that tells it apart.
macro_rules! union {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident($type:ty),)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant($type),)+
        }

        impl $crate::schema::declare::Json for $name {
            const SHAPE: $crate::schema::declare::Shape = $crate::schema::declare::Shape::OneOf(
                &[$(<$type as $crate::schema::declare::Json>::SHAPE,)+],
            );

            fn write(&self, w: &mut $crate::json::Writer) {
                match self {
                    $(Self::$variant(value) => $crate::schema::declare::Json::write(value, w),)+
                }
            }
        }

        impl $crate::schema::declare::Record for $name {
            fn write_members(&self, w: &mut $crate::json::Writer) {
                match self {
                    $(Self::$variant(value) => {
                        $crate::schema::declare::Record::write_members(value, w);
                    })+
                }
            }
        }

        $crate::schema::declare::readable!($name);

        impl $crate::schema::declare::FromMembers for $name {
            fn read_members(
                fields: &mut $crate::schema::declare::Fields<'_>,
            ) -> Option<Self> {
                $(
                    let mut attempt = fields.clone();
                    let read = <$type as $crate::schema::declare::FromMembers>::read_members(
                        &mut attempt,
                    );
                    if let Some(value) = read {
                        *fields = attempt;
                        return Some(Self::$variant(value));
                    }
                )+
                None
            }
        }

        $(impl From<$type> for $name {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        })+
    };
}

pub(crate) use {
    constant, get, member, object, put, readable, record, spelled, union, wire, words,
};
