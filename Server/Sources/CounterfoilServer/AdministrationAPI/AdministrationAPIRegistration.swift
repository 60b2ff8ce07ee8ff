import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// The registration of the administration API with its scopes in the store, where the operator offers it.
///
/// It is an API as any other: its page sets whether its tokens must be bound to a key. The server registers it again if
/// it was deleted.
struct AdministrationAPIRegistration: Sendable {
    /// The name of the API.
    static let name = "Administration"

    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let auditor: Auditor

    /// Registers what is missing.
    func complete(now: Date) async throws {
        guard settings.offersAdministrationAPI else { return }
        let changes = RegistryAdministration(
            store, at: now,
            recording: { kind, client, detail in AuditEvent(at: now, kind, clientID: client, detail: detail) },
            counting: { [auditor] in auditor.countRecorded($0) })
        try await addScopes(changes)
        try await addAPI(changes)
    }

    private func addScopes(_ changes: RegistryAdministration) async throws {
        let known = Set(try await registry.fresh().scopes().map(\.token))
        for right in AdministrationRight.allCases {
            guard let scope = right.scope, !known.contains(scope) else { continue }
            // Another server can have added it meanwhile.
            do { _ = try await changes.add(Self.draft(of: right, scope)) } catch is ScopeRefusal { continue }
        }
    }

    private func addAPI(_ changes: RegistryAdministration) async throws {
        let resource = settings.issuer.administrationAPI
        let wanted = Scope(AdministrationRight.allCases.compactMap(\.scope))
        guard let api = try await registry.fresh().resource(try Resource(resource)) else {
            var draft = APIDraft()
            draft.uri = resource
            draft.name = Self.name
            draft.scopes = wanted.tokens.map(\.rawValue)
            do { _ = try await changes.add(draft) } catch is APIRefusal { return }
            return
        }
        let missing = wanted.subtracting(api.scope)
        guard !missing.isEmpty else { return }
        var draft = APIDraft(api)
        draft.scopes += missing.tokens.map(\.rawValue)
        do { _ = try await changes.change(api, to: draft) } catch is APIRefusal { return }
    }

    private static func draft(of right: AdministrationRight, _ scope: Scope.Token) -> ScopeDraft {
        var draft = ScopeDraft()
        draft.name = scope.rawValue
        let key = "scope.\(right.rawValue.replacing(":", with: "-"))"
        for language in Language.allCases { draft.texts[language] = Localizer(language)(LocalizedText(key: key)) }
        draft.isReserved = true
        return draft
    }
}
