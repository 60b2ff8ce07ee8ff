package import CounterfoilProtocol
package import CounterfoilStore
import CounterfoilTokens
package import Foundation

/// The changes of scopes and APIs that administrators make, on pages and at the command line.
///
/// Each change is one commit with its events. Both take the same drafts, so a page and a command cannot differ.
package struct RegistryAdministration: Sendable {
    private let store: any ScopeStore & ResourceStore
    private let time: Date
    private let event: @Sendable (AuditEvent.Kind, ClientIdentifier?, String) -> AuditEvent
    private let count: @Sendable ([AuditEvent]) -> Void

    /// Creates the changes for one command or request.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - time: The time of the changes, by the clock of the store.
    ///   - event: Creates an event that names who makes the change.
    ///   - count: Counts the events that a commit has appended.
    package init(
        _ store: any ScopeStore & ResourceStore, at time: Date,
        recording event: @escaping @Sendable (AuditEvent.Kind, ClientIdentifier?, String) -> AuditEvent,
        counting count: @escaping @Sendable ([AuditEvent]) -> Void = { _ in }
    ) {
        self.store = store
        self.time = time
        self.event = event
        self.count = count
    }

    /// Adds a scope.
    package func add(_ draft: ScopeDraft) async throws -> ScopeDefinition {
        let scope = try draft.checkedAsNew()
        let events = [
            event(.setting, nil, "created the scope \(scope.token)\(scope.claims.detail)").named(.scopeCreated)
        ]
        switch try await store.addScope(scope, recording: events) {
        case .added: count(events)
        case .exists: throw ScopeRefusal([ScopeDraft.FieldProblem(.name, .nameTaken)])
        }
        return scope
    }

    /// Changes the texts and options of a scope, if it is still as it was read; its name stays.
    ///
    /// - Returns: The changed scope; nil if it was deleted meanwhile.
    package func change(_ former: ScopeDefinition, to draft: ScopeDraft) async throws -> ScopeDefinition? {
        let scope = try draft.checked(as: former.token)
        let events = [
            event(.setting, nil, "changed the scope \(scope.token)\(scope.difference(from: former))").named(
                .scopeChanged)
        ]
        switch try await store.updateScope(scope, from: former, recording: events) {
        case .updated: count(events)
        case .changedMeanwhile: throw ScopeRefusal([ScopeDraft.FieldProblem(nil, .changedMeanwhile)])
        case .notFound: return nil
        }
        return scope
    }

    /// Deletes a scope, and removes it from every grant and consent; if `takesFromUses`, also from clients and APIs.
    package func delete(
        _ token: Scope.Token, takingFromUses takesFromUses: Bool
    ) async throws(StoreFault) -> RemoveScopeOutcome {
        let events: @Sendable (ScopeUses) -> [AuditEvent] = { [event] uses in
            [event(.setting, nil, "deleted the scope \(token)").named(.scopeDeleted)]
                + uses.clients.map { event(.client, $0, "removed the scope \(token)") }
                + uses.resources.map {
                    event(.setting, nil, "removed the scope \(token) from the API \($0)").named(.apiChanged)
                }
        }
        let outcome = try await store.removeScope(
            token, takingFromUses: takesFromUses, at: time, recording: events)
        if case .removed(let uses) = outcome { count(events(uses)) }
        return outcome
    }

    /// Registers an API with a new `client_id` and secret.
    package func add(
        _ draft: APIDraft, random: RandomBytes = RandomBytes()
    ) async throws -> (api: RegisteredResource, secret: ClientSecret) {
        let secret = ClientSecret(random: random)
        guard let clientID = RegisteredResource.newClientID(random: random) else {
            throw APIRefusal([APIDraft.FieldProblem(nil, .changedMeanwhile)])
        }
        let api = try draft.checkedAsNew(clientID: clientID, secret: secret, at: time)
        let events = [event(.setting, nil, "registered the API \(api.resource)").named(.apiCreated)]
        switch try await store.addResource(api, recording: events) {
        case .added: count(events)
        case .exists: throw APIRefusal([APIDraft.FieldProblem(.uri, .uriTaken)])
        case .unknownScopes(let unknown): throw APIRefusal(APIDraft.FieldProblem.unknown(unknown))
        }
        return (api, secret)
    }

    /// Changes the name, scopes and tokens of an API, if it is still as it was read.
    ///
    /// - Returns: The changed API; nil if it was deleted meanwhile.
    package func change(_ former: RegisteredResource, to draft: APIDraft) async throws -> RegisteredResource? {
        let api = try draft.checked(as: former)
        let events = [
            event(
                .setting, nil,
                "changed the API \(api.resource), jwt_type \(api.tokenType.rawValue)"
                    + (api.requiresBoundTokens ? ", bound tokens only" : "")
                    + api.scope.difference(from: former.scope)
            ).named(.apiChanged)
        ]
        switch try await store.updateResource(api, from: former, recording: events) {
        case .updated: count(events)
        case .changedMeanwhile: throw APIRefusal([APIDraft.FieldProblem(nil, .changedMeanwhile)])
        case .notFound: return nil
        case .unknownScopes(let unknown): throw APIRefusal(APIDraft.FieldProblem.unknown(unknown))
        }
        return api
    }

    /// Replaces the secret of an API, which invalidates the former one at once; returns nil if the API was deleted
    /// meanwhile.
    package func replaceSecret(
        of api: Resource, random: RandomBytes = RandomBytes()
    ) async throws(StoreFault) -> ClientSecret? {
        let secret = ClientSecret(random: random)
        let events = [event(.setting, nil, "replaced the secret of the API \(api)").named(.apiSecretReplaced)]
        guard try await store.replaceSecret(of: api, with: ArtefactDigest(of: secret), recording: events) else {
            return nil
        }
        count(events)
        return secret
    }

    /// Deletes an API; returns false if it was deleted meanwhile.
    package func delete(_ api: Resource) async throws(StoreFault) -> Bool {
        let events = [event(.setting, nil, "deleted the API \(api)").named(.apiDeleted)]
        guard try await store.removeResource(api, recording: events) else { return false }
        count(events)
        return true
    }
}

extension ScopeDefinition {
    /// The languages of the changed texts and the changed options, for the audit log.
    fileprivate func difference(from former: ScopeDefinition) -> String {
        let changed = Language.allCases.filter { language in
            language == .standard
                ? description != former.description : texts[language] != former.texts[language]
        }
        let options = [
            ("listed", isListed, former.isListed), ("ticked", startsTicked, former.startsTicked),
            ("reserved", isReserved, former.isReserved),
        ]
        return (changed.isEmpty ? "" : ", texts: " + changed.map(\.rawValue).joined(separator: " "))
            + options.filter { $0.1 != $0.2 }.map { ", \($0.1 ? "" : "not ")\($0.0)" }.joined()
            + (claims == former.claims ? "" : claims.isEmpty ? ", no claims" : claims.detail)
    }
}

extension ReleasedClaims {
    /// The claims and their places, for the audit log; empty for none.
    fileprivate var detail: String {
        guard !isEmpty else { return "" }
        return ", claims: " + names.sorted().map(\.rawValue).joined(separator: " ") + " in "
            + places.map(\.rawValue).sorted().joined(separator: " ")
    }
}

extension Scope {
    /// The scopes that an API has gained and lost, for the audit log.
    fileprivate func difference(from former: Scope) -> String {
        let (gained, lost) = (
            tokens.filter { !former.contains($0) }, former.tokens.filter { !contains($0) }
        )
        func list(_ what: String, _ tokens: [Token]) -> String {
            tokens.isEmpty ? "" : ", \(what): " + tokens.map(\.rawValue).joined(separator: " ")
        }
        return list("gained", gained) + list("lost", lost)
    }
}
