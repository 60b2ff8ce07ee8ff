import Foundation
import PostgreSQLTesting
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: values of statements", .timeLimit(.minutes(2)))
struct ValueTests {
    private static func connection() async throws -> Connection {
        try Connection.open(await PostgreSQLServer.shared.value.socketURI()).connection
    }

    private static func echo<Value>(
        _ types: String..., values: [(any ParameterValue)?], read: (inout ResultRow) throws -> Value
    ) async throws -> Value? {
        let list = types.enumerated().map { "$\($0 + 1)::\($1)" }.joined(separator: ", ")
        let rows = try await connection().exchange(
            [Statement("SELECT \(list)", values: values)], by: .now + .seconds(30))
        return try rows.first?.first(read)
    }

    @Test func `texts, bytes, integers and flags come back as they were sent`() async throws {
        let text = "Zoë \u{1F642} ' \\ \u{1}\n"
        let bytes = (0...255).map { UInt8($0) }
        let sent: [(any ParameterValue)?] = [
            text, "", Data(bytes), Data(), Data([0, 255]), Int64.min, Int64.max, 0, true, false,
        ]
        let isSame = try await Self.echo(
            "text", "text", "bytea", "bytea", "bytea", "int8", "int8", "int8", "bool", "bool", values: sent
        ) { columns in
            try columns.text() == text && columns.text() == "" && columns.bytes() == bytes && columns.bytes() == []
                && columns.bytes() == [0, 255] && columns.integer() == .min && columns.integer() == .max
                && columns.integer() == 0 && columns.flag() && !columns.flag() && !columns.hasMore
        }
        #expect(isSame == true)
    }

    @Test func `rows outlive their connection, also when a column is missing`() async throws {
        let rows = try await Self.connection().exchange([Statement("SELECT 'a'")], by: .now + .seconds(30))
        let text = try rows.first?.first { columns in
            let text = try columns.text()
            #expect(throws: DatabaseFault.self) { try columns.text() }
            return text
        }
        #expect(text == "a")
        #expect(rows.first?.columnName(1) == "?")
    }

    @Test func `nulls come back as nil`() async throws {
        let isNull = try await Self.echo("text", "bytea", "int8", values: [nil, nil, nil]) { columns in
            try columns.optionalText() == nil && columns.optionalBytes() == nil && columns.optionalInteger() == nil
        }
        #expect(isNull == true)
    }

    @Test func `the elements of arrays come back as they were sent`() async throws {
        let texts = ["", "a b", "{\",}", "ü"]
        let bytes = [[], [0], [1, 2, 255], [3]].map { Data($0 as [UInt8]) }
        let numbers: [Int64] = [.min, -1, 0, .max]
        let rows = try await Self.connection().exchange(
            [
                Statement(
                    "SELECT * FROM unnest($1::text[], $2::bytea[], $3::int8[])", texts, bytes, numbers),
                Statement(
                    "SELECT count(*) FROM unnest($1::text[], $2::bytea[], $3::int8[])", [String](), [Data](),
                    [Int64]()),
            ], by: .now + .seconds(30))
        let read = try rows.first?.all { columns in
            (text: try columns.text(), bytes: try columns.bytes(), number: try columns.integer())
        }
        #expect(read?.map(\.text) == texts && read?.map { Data($0.bytes) } == bytes && read?.map(\.number) == numbers)
        #expect(try rows.last?.first { columns in try columns.integer() } == 0)
    }

    @Test func `an element of an array can be null`() async throws {
        let rows = try await Self.connection().exchange(
            [
                Statement(
                    "SELECT t, b, n FROM unnest($1::text[], $2::bytea[], $3::int8[]) AS u (t, b, n)",
                    ["a", nil] as [String?], [nil, Data([7])] as [Data?], [nil, 9] as [Int64?])
            ], by: .now + .seconds(30))
        let read = try rows.first?.all { columns in
            try "\(columns.optionalText() ?? "-") \(columns.optionalBytes() ?? []) \(columns.optionalInteger() ?? -1)"
        }
        #expect(read == ["a [] -1", "- [7] 9"])
    }

    @Test(arguments: ["a\0b" as any ParameterValue, ["a", "\0"], ["\0", nil] as [String?]])
    func `a text with NUL is refused before it is sent`(value: any ParameterValue) async throws {
        let connection = try await Self.connection()
        #expect(throws: DatabaseFault.failed("a text to be stored contains a NUL character")) {
            try connection.exchange([Statement("SELECT $1", value)], by: .now + .seconds(30))
        }
        #expect(connection.isUsable)
    }

    @Test func `a value of another type than expected is a fault that names the column and not the value`() async throws
    {
        let connection = try await Self.connection()
        let rows = try connection.exchange([Statement("SELECT 'secret'::text AS word")], by: .now + .seconds(30))
        #expect(throws: DatabaseFault.failed("the column word holds an invalid value")) {
            try rows.first?.first { columns in try columns.integer() }
        }
    }

    @Test func `the same SQL with a null first and a value later is read correctly`() async throws {
        let connection = try await Self.connection()
        let sql = "SELECT coalesce($1, 2) + 1"
        for value in [nil, Int64(5_000_000_000), nil] as [Int64?] {
            let rows = try connection.exchange([Statement(sql, value)], by: .now + .seconds(30))
            let sum = try rows.first?.first { columns in try columns.integer() }
            #expect(sum == (value ?? 2) + 1)
        }
    }

    @Test func `an answer larger than any buffer arrives, also while more is sent`() async throws {
        let connection = try await Self.connection()
        let large = String(repeating: "x", count: 3_000_000)
        let statements = (0..<4).map { _ in Statement("SELECT $1::text", large) }
        let rows = try connection.exchange(statements, by: .now + .seconds(30))
        for rows in rows { #expect(try rows.first { columns in try columns.text() } == large) }
    }
}
