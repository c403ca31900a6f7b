//! Ties a row struct to its table: one list of fields gives the DDL, the Arrow batch and the reading back.

use std::sync::Arc;

use agent_core::Timestamp;
use duckdb::Row;
use duckdb::arrow::array::{
    ArrayRef, BooleanArray, Int64Array, StringArray, TimestampMicrosecondArray, UInt16Array, UInt32Array,
    UInt64Array,
};
use duckdb::arrow::datatypes::{DataType, TimeUnit};
use duckdb::arrow::record_batch::RecordBatch;

/// A row that has a table.
pub(crate) trait Table: Sized {
    /// The schema, `main` for the tables at the top.
    const SCHEMA: &'static str;
    /// The table's name in it.
    const NAME: &'static str;
    /// The columns, in order, separated by commas.
    const COLUMNS: &'static str;

    /// Returns the statement that makes the table.
    fn ddl() -> String;
    /// Returns the rows as one batch.
    fn batch(rows: &[Self]) -> Result<RecordBatch, duckdb::arrow::error::ArrowError>;
    /// Reads a row selected with `COLUMNS` beginning at column `at`.
    fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self>;

    /// Returns `schema.name`.
    fn full_name() -> String {
        format!("{}.{}", Self::SCHEMA, Self::NAME)
    }
}

/// A value that a column holds.
pub(crate) trait Cell: Sized {
    const SQL: &'static str;
    const NULLABLE: bool = false;
    fn data_type() -> DataType;
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;
    fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self>;
}

macro_rules! cells {
    ($($ty:ty, $sql:literal, $array:ty, $data_type:expr;)+) => {$(
        impl Cell for $ty {
            const SQL: &'static str = $sql;
            fn data_type() -> DataType {
                $data_type
            }
            fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(values.map(|value| Some(*value)).collect::<$array>())
            }
            fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self> {
                row.get(at)
            }
        }
        impl Cell for Option<$ty> {
            const SQL: &'static str = $sql;
            const NULLABLE: bool = true;
            fn data_type() -> DataType {
                $data_type
            }
            fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(values.copied().collect::<$array>())
            }
            fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self> {
                row.get(at)
            }
        }
    )+};
}

cells! {
    bool, "BOOLEAN", BooleanArray, DataType::Boolean;
    u16, "USMALLINT", UInt16Array, DataType::UInt16;
    u32, "UINTEGER", UInt32Array, DataType::UInt32;
    u64, "UBIGINT", UInt64Array, DataType::UInt64;
    i64, "BIGINT", Int64Array, DataType::Int64;
}

impl Cell for String {
    const SQL: &'static str = "VARCHAR";
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values))
    }
    fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self> {
        row.get(at)
    }
}

impl Cell for Option<String> {
    const SQL: &'static str = "VARCHAR";
    const NULLABLE: bool = true;
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(values.map(Option::as_deref).collect::<StringArray>())
    }
    fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self> {
        row.get(at)
    }
}

impl Cell for Option<Timestamp> {
    const SQL: &'static str = "TIMESTAMP";
    const NULLABLE: bool = true;
    fn data_type() -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, None)
    }
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(values.map(|ts| ts.map(Timestamp::micros)).collect::<TimestampMicrosecondArray>())
    }
    fn read(row: &Row<'_>, at: usize) -> duckdb::Result<Self> {
        match row.get_ref(at)? {
            duckdb::types::ValueRef::Timestamp(unit, value) => {
                Ok(Some(Timestamp::from_micros(unit.to_micros(value))))
            }
            _ => Ok(None),
        }
    }
}

/// Declares a row and its table.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident = $schema:literal . $table:literal {
        $($(#[$fdoc:meta])* $field:ident: $ty:ty),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $ty,)+
        }

        impl $crate::projection::columns::Table for $name {
            const SCHEMA: &'static str = $schema;
            const NAME: &'static str = $table;
            const COLUMNS: &'static str = $crate::projection::columns::join_columns!($($field),+);

            fn ddl() -> String {
                let columns = [$(
                    format!("{} {}{}", stringify!($field), <$ty as Cell>::SQL, if <$ty as Cell>::NULLABLE { "" } else { " NOT NULL" })
                ),+];
                format!("CREATE TABLE {}.{} ({})", $schema, $table, columns.join(", "))
            }

            fn batch(rows: &[Self]) -> Result<RecordBatch, duckdb::arrow::error::ArrowError> {
                let fields = vec![$(Field::new(stringify!($field), <$ty as Cell>::data_type(), <$ty as Cell>::NULLABLE)),+];
                let arrays = vec![$(<$ty as Cell>::array(rows.iter().map(|row| &row.$field))),+];
                RecordBatch::try_new(std::sync::Arc::new(Schema::new(fields)), arrays)
            }

            fn read(row: &duckdb::Row<'_>, mut at: usize) -> duckdb::Result<Self> {
                Ok(Self { $($field: {
                    let value = <$ty as Cell>::read(row, at)?;
                    at += 1;
                    let _ = at;
                    value
                }),+ })
            }
        }
    };
}

macro_rules! join_columns {
    ($first:ident $(, $rest:ident)*) => {
        concat!(stringify!($first) $(, ", ", stringify!($rest))*)
    };
}

pub(crate) use {join_columns, table};
