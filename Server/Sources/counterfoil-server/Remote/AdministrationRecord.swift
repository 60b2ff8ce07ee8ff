import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// A record of the administration API, with its version.
struct AdministrationRecord: Sendable, Encodable {
    let members: [String: JSONValue]
    /// The `ETag`; nil for a record within another one.
    let tag: String?

    init(_ answer: AdministrationResponse) throws(CommandFailure) {
        do { members = try JSONReader.object(answer.body) } catch {
            throw .refused("the server sent an answer that is no JSON object; is the URL that of the server?")
        }
        tag = answer.fields[.eTag]
    }

    init(_ members: [String: JSONValue]) {
        self.members = members
        tag = nil
    }

    func encode(to encoder: any Encoder) throws { try JSONValue.object(members).encode(to: encoder) }

    /// The text of a member; nil if it is absent or of another type.
    func text(_ name: String) -> String? { members[name]?.text }

    /// The text of a member without invisible characters; empty if it is absent or of another type.
    func shown(_ name: String) -> String { text(name)?.visible ?? "" }

    /// The texts of a list; empty if it is absent.
    func texts(_ name: String) -> [String] { members[name]?.texts ?? [] }

    /// The number of a member; nil if it is absent or of another type.
    func integer(_ name: String) -> Int? {
        if case .integer(let number)? = members[name] { Int(exactly: number) } else { nil }
    }

    /// The time of a member in seconds since 1970, as a text; empty if it is absent or of another type.
    func moment(_ name: String) -> String {
        integer(name).map { Moment.text(Date(timeIntervalSince1970: TimeInterval($0))) } ?? ""
    }

    /// Returns true if a member is true.
    func flag(_ name: String) -> Bool { if case .boolean(true)? = members[name] { true } else { false } }

    /// The object in a member; nil if it is absent or of another type.
    func record(_ name: String) -> AdministrationRecord? {
        if case .object(let members)? = members[name] { AdministrationRecord(members) } else { nil }
    }

    /// The objects of a list; empty if it is absent.
    func records(_ name: String) -> [AdministrationRecord] {
        guard case .array(let values)? = members[name] else { return [] }
        return values.compactMap { if case .object(let members) = $0 { AdministrationRecord(members) } else { nil } }
    }
}
