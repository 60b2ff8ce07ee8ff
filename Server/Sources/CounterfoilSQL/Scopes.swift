import CounterfoilProtocol
public import CounterfoilStore
import Foundation

extension SQLStore {
    /// Reads every scope, in the order of names.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        try await read { database in
            var scopes = try database.list(
                "SELECT \(ScopeDefinition.columns) FROM scopes ORDER BY name", noting: unsupported,
                read: ScopeDefinition.init(_:))
            let texts = Dictionary(
                grouping: try database.list(
                    "SELECT scope, language, text FROM scope_texts", noting: unsupported, read: ScopeText.init(_:)),
                by: \.scope)
            for place in scopes.indices { scopes[place].add(texts[scopes[place].token.rawValue] ?? []) }
            return scopes
        }
    }

    /// Adds a scope, unless its name is taken.
    public func addScope(
        _ scope: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddScopeOutcome {
        try await commit(recording: events) { database in
            let added = try database.run(
                """
                INSERT INTO scopes (\(ScopeDefinition.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (name) DO NOTHING
                """,
                scope.token.rawValue,
                scope.description,
                scope.isListed,
                scope.startsTicked,
                scope.isReserved,
                scope.claims.storedNames,
                scope.claims.storedPlaces
            )
            guard added == 1 else { return .exists }
            try database.keepTexts(of: scope)
            return .added
        }
    }

    /// Changes a scope if its stored definition still equals `former`.
    ///
    /// A text in a language that this version does not know stays.
    public func updateScope(
        _ scope: ScopeDefinition, from former: ScopeDefinition, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateScopeOutcome {
        try await commit(ending: .sometimes(.scopeReserved), recording: events) { database in
            guard let stored = try database.scope(scope.token) else { return .notFound }
            guard stored == former else { return .changedMeanwhile }
            try database.send(
                """
                UPDATE scopes SET description = ?2, is_listed = ?3, starts_ticked = ?4, is_reserved = ?5,
                    claims = ?6, claim_places = ?7
                WHERE name = ?1
                """,
                scope.token.rawValue,
                scope.description,
                scope.isListed,
                scope.startsTicked,
                scope.isReserved,
                scope.claims.storedNames,
                scope.claims.storedPlaces
            )
            if scope.texts != stored.texts { try database.keepTexts(of: scope) }
            return .updated
        }
    }
}

extension SQLConnection {
    func scope(_ token: Scope.Token) throws -> ScopeDefinition? {
        guard
            var scope = try first(
                "SELECT \(ScopeDefinition.columns) FROM scopes WHERE name = ?", token.rawValue,
                read: ScopeDefinition.init(_:))
        else { return nil }
        let texts = try all(
            """
            SELECT scope, language, text FROM scope_texts
            WHERE scope = ? AND language IN (\(Language.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
            """, token.rawValue, read: ScopeText.init(_:))
        scope.add(texts)
        return scope
    }

    fileprivate func keepTexts(of scope: ScopeDefinition) throws {
        for language in Language.allCases {
            try send(
                "DELETE FROM scope_texts WHERE scope = ? AND language = ?", scope.token.rawValue, language.rawValue)
        }
        for (language, text) in scope.texts {
            try send(
                "INSERT INTO scope_texts (scope, language, text) VALUES (?, ?, ?)", scope.token.rawValue,
                language.rawValue, text)
        }
    }
}

/// The description of a scope in one language.
private struct ScopeText {
    let scope: String
    let language: Language
    let text: String

    init(_ columns: inout Columns) throws {
        columns.record = "text of a scope"
        scope = try columns.text()
        language = try columns.word(Language.init(rawValue:))
        text = try columns.text()
    }
}

extension ScopeDefinition {
    fileprivate static let columns = "name, description, is_listed, starts_ticked, is_reserved, claims, claim_places"

    fileprivate init(_ columns: inout Columns) throws {
        columns.record = "scope"
        self.init(
            token: try columns.word(Scope.Token.init(_:)), description: try columns.text(),
            isListed: try columns.flag(), startsTicked: try columns.flag(), isReserved: try columns.flag(),
            claims: ReleasedClaims(
                names: Set(try columns.list(ClaimName.init(_:))),
                places: Set(try columns.list(ReleasedClaims.Place.init(rawValue:)))))
    }

    fileprivate mutating func add(_ texts: [ScopeText]) {
        for text in texts { self.texts[text.language] = text.text }
    }
}

extension ReleasedClaims {
    fileprivate var storedNames: String { names.sorted().map(\.rawValue).joined(separator: " ") }
    fileprivate var storedPlaces: String { places.map(\.rawValue).sorted().joined(separator: " ") }
}
