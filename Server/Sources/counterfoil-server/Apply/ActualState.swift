import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The records of a server that a file declares or removes, as they are now.
struct ActualState: Sendable {
    /// A record with its place in the API.
    struct Found: Sendable {
        let path: String
        let record: AdministrationRecord
    }

    private struct Key: Hashable {
        let kind: DeclaredKind
        let name: String
    }

    private var found: [Key: Found] = [:]
    /// The names of all scopes; nil if they were not needed.
    private(set) var scopes: Set<String>?

    /// Reads what the file names, and nothing else, so that a token needs no further right.
    init(of state: DeclaredState, by transport: any AdministrationTransport) async throws {
        let wanted =
            state.records.map { Key(kind: $0.kind, name: $0.name) }
            + state.removals.map { Key(kind: $0.kind, name: $0.name) }
        let kinds = Set(wanted.map(\.kind))
        if kinds.contains(.scopes) || kinds.contains(.apis) {
            scopes = Set(try await transport.items(of: "/scopes").compactMap { $0.text("scope") })
        }
        let apis = kinds.contains(.apis) ? try await transport.apiPaths() : [:]
        for key in wanted {
            guard let path = try await Self.path(of: key, apis: apis, by: transport),
                let record = try await transport.record(at: path)
            else { continue }
            found[key] = Found(path: path, record: record)
        }
    }

    subscript(_ kind: DeclaredKind, _ name: String) -> Found? { found[Key(kind: kind, name: name)] }

    /// Returns the path of a record; nil if there is no such record.
    private static func path(
        of key: Key, apis: [Resource: String], by transport: any AdministrationTransport
    ) async throws -> String? {
        let segment = AdministrationOperation.segment
        switch key.kind {
        case .scopes: return "/scopes/" + segment(key.name)
        case .apis: return (try? Resource(key.name)).flatMap { apis[$0] }
        case .clients: return "/clients/" + segment(key.name)
        case .unregisteredPolicy: return "/unregistered/policy"
        case .branding: return "/branding"
        case .users:
            return try await transport.user(named: key.name)?.userPath
        }
    }
}
