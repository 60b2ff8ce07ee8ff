import CounterfoilProtocol
import CounterfoilStore

extension CurrentRegistry {
    /// Checks the scope and the APIs of a device authorization request, with the rules for authorization requests.
    ///
    /// - Parameters:
    ///   - scope: The requested scope; nil if the request names none.
    ///   - resources: The APIs that the request names.
    ///   - client: The client of the request.
    func access(
        to scope: Scope?, naming resources: [Resource], by client: RegisteredClient, _ settings: ServerSettings
    ) async throws -> RequestedAccess {
        let rule = client.scopeRule
        let asked = try AuthorizationValidation.scope(scope, assignedTo: client, under: rule)
        let named = try await apis(named: resources, orOf: asked.intersection(client.scope), of: client, settings)
        let access = RequestedAccess(
            client: client,
            scope: try AuthorizationValidation.narrow(asked, within: client.scope, under: rule, to: named),
            claimScope: Scope(), named: named)
        try await checkAPIs(named, for: access.asked, of: client, settings)
        return access
    }
}

extension ValidatedAuthorization {
    /// The access that the user is asked to allow.
    var access: RequestedAccess {
        RequestedAccess(client: client, scope: scope, claimScope: claimScope, named: named)
    }
}
