"""Makes tools of the named operations on a database: `configs/connectors.yaml`, `sql`.

A planner never writes SQL: it chooses an operation and values, which are bound. Who the customer is, Hermes binds
itself. What reads runs in a transaction that can only read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, CursorResult, Engine, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, OperationalError, ProgrammingError

from hermes_bot.errors import SettingsError, TransientError
from hermes_bot.settings.connectors import ColumnSpec, Connections, OperationSpec, SqlSpec
from hermes_bot.settings.problems import Problem, refuse
from hermes_bot.tools.arguments import SchemaArguments
from hermes_bot.tools.connectors.statements import IDENTITY, bound_in, faults_in, marks_of, schema_of
from hermes_bot.tools.outcome import Caller, Preview
from hermes_bot.tools.registry import Level, Tool, ToolRefusal, ToolUnavailable
from hermes_bot.tools.toolbox import PARTS

Answer = TypeVar("Answer")

CONNECTIONS = 4

logger = logging.getLogger(__name__)


class SqlSource:
    """One database. It is connected to when an operation is first called; raise SettingsError for a wrong address."""

    def __init__(self, name: str, spec: SqlSpec, connections: Connections, *, clock: Callable[[], datetime]) -> None:
        self.name = name
        self._spec = spec
        self._clock = clock
        try:
            self._engine = _engine(connections.secret(spec.url_from) if spec.url_from else spec.url)
        except (ArgumentError, ModuleNotFoundError, ValueError) as error:
            place, key = connections.file, "url_from" if spec.url_from else "url"
            line = place.line(("sql", name, key))
            reason = type(error).__name__ if spec.url_from else str(error)
            text_ = f"sql.{name}.{key}: this is not a database address: {reason}"
            raise SettingsError(text_, file=place.name, line=line, key=f"sql.{name}.{key}") from None
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix=f"sql-{name}")

    def tools(self, connections: Connections) -> tuple[Tool, ...]:
        """Return a tool for every operation."""
        place = connections.file
        return tuple(
            self._tool(name, operation, f"{place.name}:{place.line(('sql', self.name, 'operations', name))}")
            for name, operation in self._spec.operations.items()
        )

    async def fault(self) -> str:
        """Return why the database cannot be used, empty where it can."""
        try:
            await self._run(lambda connection: connection.exec_driver_sql("SELECT 1").scalar(), read_only=True)
        except (TransientError, ToolRefusal) as error:
            return str(error)
        return ""

    async def close(self) -> None:
        """Let go of all connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()

    def _tool(self, name: str, operation: OperationSpec, source: str) -> Tool:
        bound = bound_in(operation.statement)
        made = _Operation(f"{self.name}{PARTS}{name}", operation, bound, self._clock)
        level = Level.of(operation.level)

        async def run(arguments: Mapping[str, Any], *, caller: Caller, key: str = "") -> dict[str, Any]:
            values = made.values(arguments, caller, key)
            work = made.read if level is Level.L0 else made.write
            return await self._run(lambda connection: work(connection, values), read_only=level is Level.L0)

        async def describe(arguments: Mapping[str, Any], *, caller: Caller) -> Preview:
            made.values(arguments, caller, "")  # refuses where there is no customer
            return made.card(arguments, caller)

        return Tool(
            name=made.name,
            level=level,
            description=operation.description,
            parameters=schema_of(operation),
            arguments=SchemaArguments(schema_of(operation), marks_of(operation)),
            needs=frozenset({"caller"} | ({"key"} & bound)),
            function=run,
            describe=describe,
            timeout_s=operation.timeout_s or self._spec.timeout_s,
            whole=True,
            source=source,
        )

    async def _run(self, work: Callable[[Connection], Answer], *, read_only: bool) -> Answer:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _transact, self._engine, work, read_only)


class _Operation:
    """One operation: what is bound, and what comes back."""

    def __init__(self, name: str, spec: OperationSpec, bound: frozenset[str], clock: Callable[[], datetime]) -> None:
        self.name = name
        self._spec = spec
        self._bound = bound
        self._clock = clock
        self._statement = text(spec.statement)

    def values(self, arguments: Mapping[str, Any], caller: Caller, key: str) -> dict[str, Any]:
        """Return what is bound; refuse where a customer is needed and there is none."""
        customer = caller.customer
        if customer is None and self._bound & IDENTITY:
            raise ToolRefusal("unknown_customer")
        hermes = {"ticket_id": caller.ticket_id, "key": key, "now": self._clock()}
        if customer is not None:
            hermes |= {"customer_email": customer.email, "customer_id": customer.id}
        chosen = {name: self._value(name, arguments.get(name)) for name in self._spec.parameters}
        return chosen | {name: hermes[name] for name in self._bound & hermes.keys()}

    def _value(self, name: str, value: Any) -> Any:
        kind = self._spec.parameters[name].type
        if value is None or kind not in {"date", "time", "number"}:
            return value
        if kind == "number":
            return Decimal(str(value))
        return date.fromisoformat(value) if kind == "date" else datetime.fromisoformat(value)

    def read(self, connection: Connection, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the rows, at most as many as the operation says, and whether there are more."""
        return self._rows(connection.execute(self._statement, values))

    def write(self, connection: Connection, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return how many rows changed, and those that the statement returns; refuse where they are too many."""
        result = connection.execute(self._statement, values)
        changed = max(result.rowcount, 0)
        if changed > self._spec.changes:
            raise ToolRefusal("too_many_rows")
        return {"changed": changed} | (self._rows(result) if result.returns_rows else {})

    def _rows(self, result: CursorResult[Any]) -> dict[str, Any]:
        limit = self._spec.row_limit
        found = result.mappings().fetchmany(limit + 1)
        rows = [self._row(dict(row)) for row in found[:limit]]
        return {"rows": rows, "more": len(found) > limit}

    def _row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        columns: Mapping[str, str | ColumnSpec] = self._spec.columns or {name: name for name in row}
        shown: dict[str, Any] = {}
        for key, said in columns.items():
            spec = said if isinstance(said, ColumnSpec) else ColumnSpec(column=said)
            if spec.column not in row:
                logger.error("a column is missing", extra={"tool": self.name, "column": spec.column})
                raise ToolRefusal("statement_failed")
            shown[key] = _cents(row[spec.column]) if spec.unit == "cents" else _plain(row[spec.column])
        return shown

    def card(self, arguments: Mapping[str, Any], caller: Caller) -> Preview:
        """Return what the approval card says."""
        spec, customer = self._spec, caller.customer
        given = {name: arguments.get(name) for name in spec.parameters}
        title = spec.title.format_map({name: "" if value is None else value for name, value in given.items()})
        who = [("Customer", f"{customer.name} ({customer.email})")] if customer and spec.about == "customer" else []
        shown = [
            (name.replace("_", " ").capitalize(), str(value)) for name, value in given.items() if value is not None
        ]
        return Preview(
            title=title or f"{self.name}: {spec.description}", shown=(*who, *shown), arguments=dict(arguments)
        )


def sql_sources(connections: Connections, *, clock: Callable[[], datetime]) -> tuple[SqlSource, ...]:
    """Return the databases of the file; raise SettingsError with the place of everything that is wrong with them."""
    problems: list[Problem] = []
    for name, spec in connections.specs.sql.items():
        for operation_name, operation in spec.operations.items():
            for key, told in faults_in(operation):
                path = ("sql", name, "operations", operation_name, *key.split("."))
                where = f"sql.{name}.operations.{operation_name}.{key}"
                problems.append(connections.file.problem(path, f"{where}: {told}"))
    if problems:
        refuse(problems)
    return tuple(SqlSource(name, spec, connections, clock=clock) for name, spec in connections.specs.sql.items())


def tools_of(sources: Sequence[SqlSource], connections: Connections) -> tuple[Tool, ...]:
    """Return the tools of all databases."""
    return tuple(tool for source in sources for tool in source.tools(connections))


def _transact(engine: Engine, work: Callable[[Connection], Answer], read_only: bool) -> Answer:
    """Return what `work` returns; commit only what may write, and say for certain where nothing happened."""
    try:
        connection = engine.connect()
    except (OperationalError, InterfaceError) as error:
        raise ToolUnavailable(f"database: {_cause(error)}") from error
    with connection:
        try:
            transaction = _begun(connection, read_only)
            answer = work(connection)
        except (OperationalError, InterfaceError) as error:
            raise ToolUnavailable(f"database: {_cause(error)}") from error
        except IntegrityError as error:
            raise ToolRefusal("conflict") from error
        except DBAPIError as error:
            told = _cause(error) if isinstance(error, ProgrammingError) else type(error.orig).__name__  # no values
            logger.error("a statement of a connector failed", extra={"error": told})  # noqa: TRY400 - not its values
            raise ToolRefusal("statement_failed") from error
        if read_only:
            transaction.rollback()
            return answer
        try:
            transaction.commit()
        except DBAPIError as error:  # nobody knows whether it was committed
            raise TransientError(f"database: {_cause(error)}") from error
        return answer


def _begun(connection: Connection, read_only: bool) -> Any:
    name = connection.dialect.name
    if name == "postgresql":
        connection.execution_options(postgresql_readonly=read_only)
    transaction = connection.begin()
    if name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if read_only else 'OFF'}")
    return transaction


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return create_engine(_existing(parsed), hide_parameters=True, connect_args={"check_same_thread": False})
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return create_engine(parsed, pool_size=CONNECTIONS, pool_pre_ping=True, hide_parameters=True)


def _existing(url: URL) -> URL:
    """Return the address so that a file that is not there is an error, and not made."""
    if not url.database or url.database == ":memory:":
        raise ValueError("a connector needs a database file that exists")
    file = Path(url.database).absolute()
    return url.set(database=f"file:{file}", query={"mode": "rw", "uri": "true"})


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return f"{len(value)} bytes" if isinstance(value, bytes | memoryview) else value


def _cents(value: Any) -> Any:
    """Return whole cents of an amount in units; the amount as text where it has parts of a cent."""
    if value is None:
        return None
    cents = Decimal(str(value)) * 100
    return int(cents) if cents == cents.to_integral_value() else str(value)


def _cause(error: DBAPIError) -> str:
    """Return the driver's own sentence, without SQL and parameters."""
    return (str(error.orig).strip().splitlines() or ["no answer"])[0]
