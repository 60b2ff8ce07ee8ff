import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The lines of an import, which are sent to the server in batches, and the report of their results.
struct UserImporter {
    /// The maximum number of users in a request.
    private static let userLimit = 200
    /// The maximum size of the lines in a request in bytes.
    private static let byteLimit = 160 * 1024

    /// A line that is not sent yet.
    private struct Entry {
        let line: Int
        let size: Int
        /// The user; nil if the line is refused.
        let members: [String: JSONValue]?
        let problem: String
    }

    /// The report of a refused line.
    private struct Refusal: Encodable {
        let line: Int
        let outcome = "refused"
        let errors: [JSONValue]
    }

    /// The numbers of users by their results.
    private struct Summary: Encodable {
        enum CodingKeys: String, CodingKey {
            case created, exists, refused
            case isTrial = "dry_run"
        }

        var created = 0
        var exists = 0
        var refused = 0
        let isTrial: Bool
    }

    private let server: any AdministrationTransport
    private let printsJSON: Bool
    private var batch: [Entry] = []
    private var summary: Summary
    private var line = 0

    init(_ server: any AdministrationTransport, isTrial: Bool, printsJSON: Bool) {
        self.server = server
        self.printsJSON = printsJSON
        summary = Summary(isTrial: isTrial)
    }

    /// The number of the first line whose result is not known.
    var firstUnsent: Int { batch.first?.line ?? line + 1 }

    /// Adds the next line of the file; sends the lines before it if they are enough for a request.
    mutating func add(_ next: LineReader.Line) async throws {
        line += 1
        guard let entry = entry(of: next) else { return }
        if batch.count == Self.userLimit || batch.reduce(entry.size, { $0 + $1.size }) > Self.byteLimit {
            try await send()
        }
        batch.append(entry)
    }

    /// Returns the entry of a line; nil for an empty one.
    private func entry(of next: LineReader.Line) -> Entry? {
        guard case .bytes(var bytes) = next else {
            return refused("The line is longer than \(LineReader.limit) bytes.")
        }
        // A byte order mark, which some programs write before the first line.
        if line == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        if bytes.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { return nil }
        guard let members = try? JSONReader.object(bytes) else {
            return refused("The line is no JSON object in UTF-8 with distinct members.")
        }
        return Entry(line: line, size: bytes.count, members: members, problem: "")
    }

    private func refused(_ problem: String) -> Entry { Entry(line: line, size: 0, members: nil, problem: problem) }

    /// Sends the lines that are not sent yet, and reports their results.
    mutating func send() async throws {
        let users = batch.compactMap(\.members)
        var results: ArraySlice<AdministrationRecord> = []
        if !users.isEmpty {
            // A request that is sent twice finds the users of the first one, and changes nothing.
            let answer = try await server.change(
                .post, "/user-records", key: UUID().uuidString,
                ["users": .array(users.map(JSONValue.object)), "dry_run": .boolean(summary.isTrial)]
            ).record()
            results = answer.records("results")[...]
        }
        guard results.count == users.count else {
            throw CommandFailure.refused("the server has not answered for every user; use the version of the server")
        }
        for entry in batch {
            guard entry.members != nil, let result = results.popFirst() else {
                try report(entry.line, [.object(["detail": .string(entry.problem)])])
                continue
            }
            switch result.text("outcome") {
            case "created": summary.created += 1
            case "exists": summary.exists += 1
            default: try report(entry.line, result.records("errors").map { .object($0.members) })
            }
        }
        batch = []
    }

    /// Reports a refused line.
    private mutating func report(_ line: Int, _ errors: [JSONValue]) throws {
        summary.refused += 1
        if printsJSON { return try Output.json(Refusal(line: line, errors: errors)) }
        for case .object(let error) in errors {
            let names = (error["pointer"]?.text ?? "").split(separator: "/").map {
                $0.replacing("~1", with: "/").replacing("~0", with: "~")
            }
            let name = names.isEmpty ? "" : names.joined(separator: "/") + ": "
            Output.line("line \(line): \(name)\(error["detail"]?.text ?? "")".visible)
        }
    }

    /// Reports the numbers of users; fails the command if a line was refused.
    func finish() throws {
        if printsJSON {
            try Output.json(summary)
        } else {
            let verb = summary.isTrial ? "Would create" : "Created"
            Output.line(
                "\(verb) \(Self.count(summary.created, "user")). "
                    + "\(Self.count(summary.exists, "user")) existed already.")
        }
        guard summary.refused == 0 else {
            throw CommandFailure.refused(
                "\(Self.count(summary.refused, "line")) of the file \(summary.refused == 1 ? "was" : "were") refused; "
                    + "correct the file and import it again")
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
