import CEmbeddedFiles
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The administration API: the paths of every ``AdministrationOperation``, the OpenAPI document and the metadata.
///
/// While the operator does not offer it, every path gets status 404.
struct AdministrationAPI: Sendable {
    /// A path with its operations.
    struct Path: Sendable {
        let endpoint: Endpoint
        let operations: [AdministrationOperation]
    }

    /// The paths of the operations, in the order of the first operation of each.
    static let paths: [Path] = {
        var order: [String] = []
        for operation in AdministrationOperation.all where !order.contains(operation.path) {
            order.append(operation.path)
        }
        return order.map { path in
            let operations = AdministrationOperation.all.filter { $0.path == path }
            return Path(endpoint: .administration(path, of: operations), operations: operations)
        }
    }()

    let components: ServerComponents
    /// The endpoints of the pages of the server.
    let pages: [Endpoint]

    private var settings: ServerSettings { components.settings }

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.openAPI) { _, _ in try openAPI() },
            EndpointHandler(.administrationAPIMetadata) { _, _ in try await metadata() },
        ]
            + Self.paths.map { path in
                EndpointHandler(
                    path.endpoint,
                    ofClients: { request, now, client in
                        try await respond(to: request, at: path, now: now, client: &client)
                    })
            }
    }

    private func respond(
        to request: IncomingRequest, at path: Path, now: Date, client: inout RequestingClient
    ) async throws -> Reply {
        guard settings.offersAdministrationAPI else { throw NotFoundError() }
        guard let operation = path.operations.first(where: { $0.method == request.head.method }) else {
            throw NotFoundError()
        }
        let access = AdministrationAccess(components)
        let caller = try await access.caller(
            of: request, at: path.endpoint, for: operation.right, now: now, client: &client)
        let call = AdministrationCall(
            request: request, caller: caller, components: components, now: now,
            query: try QueryValues(request.query, allowing: operation.query), pages: pages)
        if operation.isConditional { _ = try call.expectedTag() }
        do {
            let answer =
                operation.isCreation
                ? try await RepeatedRequests(operation, call).answer() : try await operation.perform(call)
            return answer.reply(operation.status)
        } catch let refusal as RoleRefusal { throw ProblemError(refusal) }
    }

    private func openAPI() throws -> Reply {
        guard settings.offersAdministrationAPI else { throw NotFoundError() }
        let issuer = settings.issuer.endpoint("")
        let document = Self.documents.withLock { documents in
            if let known = documents[issuer] { return known }
            let text = String(decoding: [UInt8](embedded_openapi()), as: UTF8.self)
            let served = Array(text.replacing(Self.documentedIssuer, with: issuer).utf8)
            documents[issuer] = served
            return served
        }
        return Reply(.ok, .json(document), fields: [.cacheControl: "public, max-age=300"])
    }

    /// The issuer in the OpenAPI document, in place of which the served document has that of the server.
    private static let documentedIssuer = "https://id.example.com"
    /// The served documents by issuer, of which a process has one.
    private static let documents = Mutex<[String: [UInt8]]>([:])

    /// Returns the metadata of the API as a protected resource (RFC 9728 §2).
    private func metadata() async throws -> Reply {
        guard settings.offersAdministrationAPI else { throw NotFoundError() }
        let resource = settings.issuer.administrationAPI
        let api = try await components.registry.fresh().resource(try Resource(resource))
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("resource", resource)
            writer.member("authorization_servers", list: { $0.element(settings.issuer.rawValue) })
            writer.member(
                "scopes_supported",
                list: { writer in
                    for right in AdministrationRight.allCases {
                        if let scope = right.scope { writer.element(scope.rawValue) }
                    }
                })
            writer.member("bearer_methods_supported", list: { $0.element("header") })
            writer.member("resource_name", AdministrationAPIRegistration.name)
            writer.member(
                "dpop_signing_alg_values_supported",
                list: { writer in
                    for algorithm in DPoPProofVerifier.algorithms { writer.element(algorithm.rawValue) }
                })
            if api?.requiresBoundTokens == true { writer.member("dpop_bound_access_tokens_required", true) }
        }
        return Reply(.ok, .json(writer.bytes), fields: [.cacheControl: "public, max-age=300"])
    }
}

extension ProblemError {
    /// Creates the error if the rights of the caller do not allow a change.
    init(_ refusal: RoleRefusal) {
        let roles = refusal.roles.map(\.rawValue).joined(separator: ", ")
        switch refusal {
        case .lacksRight(let right):
            self.init(
                .forbidden, "missing-right",
                "The right \(right.rawValue) is missing. The token needs its scope, and its user one of the roles: "
                    + "\(roles).")
        case .strongerAccount(let role):
            self.init(
                .forbidden, "stronger-role",
                "The account has the role \(role.rawValue). To change it, the token needs the scope of every right of "
                    + "that role, and its user one of the roles: \(roles).")
        case .strongerClients(let rights):
            let names = rights.map(\.rawValue).sorted().joined(separator: ", ")
            self.init(
                .forbidden, "stronger-clients",
                "The account manages an app with the rights \(names). To change it, the token needs the scopes of these "
                    + "rights, and its user one of the roles: \(roles).")
        case .unassignable(let role):
            self.init(
                .forbidden, "role-not-assignable",
                "The caller may not give or withdraw the role \(role.rawValue). The token needs the scope of every "
                    + "right of that role, and its user one of the roles: \(roles).")
        }
    }
}
