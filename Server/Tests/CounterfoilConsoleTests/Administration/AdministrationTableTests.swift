import CounterfoilConsole
import CounterfoilServer
import Foundation
import HTTPTypes
import Testing

/// The table of commands, pages and operations in `docs/administration.md`, compared with all three.
struct AdministrationTableTests {
    /// A row, whose cells name something or say why there is nothing.
    private struct Row {
        let commands: [String]
        let pages: [String]
        let operations: [String]
        let reasons: [String]

        init?(_ line: Substring) {
            guard line.hasPrefix("| ") else { return nil }
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 3, cells != ["command", "page", "operation"] else { return nil }
            let names = cells.map { cell in
                cell.hasPrefix("none: ")
                    ? []
                    : cell.components(separatedBy: ", ").map { $0.trimmingPrefix("`") }
                        .map { String($0.hasSuffix("`") ? $0.dropLast() : $0) }
            }
            (commands, pages, operations) = (names[0], names[1], names[2])
            reasons = cells.filter { $0.hasPrefix("none: ") }.map { String($0.dropFirst(6)) }
        }
    }

    private static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func rows() throws -> [Row] {
        let page = try String(
            contentsOf: repository.appendingPathComponent("docs/administration.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap { Row($0) }
    }

    /// The commands that have a help text and no commands below them.
    private static func commands() throws -> [String] {
        let folder = repository.appendingPathComponent("Server/Tests/ServerCommandTests/Help/counterfoil-server")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }
            .map { String($0.dropLast(4)) }
        return names.filter { name in !names.contains { $0.hasPrefix(name + "/") } }
            .map { $0.replacing("/", with: " ") }
    }

    @Test func `every command and every operation is in the table once`() throws {
        let rows = try Self.rows()
        #expect(rows.flatMap(\.commands).sorted() == (try Self.commands().sorted()))
        #expect(rows.flatMap(\.operations).sorted() == AdministrationOperation.all.map(\.id).sorted())
        #expect(rows.flatMap(\.reasons).allSatisfy { $0.count > 10 })
        #expect(
            rows.allSatisfy { $0.reasons.count + [$0.commands, $0.pages, $0.operations].count { !$0.isEmpty } == 3 })
    }

    @Test func `every page of the table exists, and every page that changes something is in it`() throws {
        let named = Set(try Self.rows().flatMap(\.pages))
        let paths = Set(ServerPages.console.endpoints.map(\.path))
        #expect(named.subtracting(paths).sorted() == [])
        let changing = ServerPages.console.endpoints.filter {
            $0.path.hasPrefix("/admin") && $0.methods.contains(.post)
        }
        #expect(Set(changing.map(\.path)).subtracting(named).sorted() == [])
    }
}
