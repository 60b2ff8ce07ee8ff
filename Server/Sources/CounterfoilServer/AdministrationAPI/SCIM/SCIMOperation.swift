import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

/// An operation of SCIM 2.0 (RFC 7644), with the right that it needs.
///
/// It changes accounts by the functions of the administration API, so that both have the same rules.
struct SCIMOperation: Sendable {
    /// The path of SCIM, relative to the issuer.
    static let prefix = "/scim/v2"

    static let all = discovery + users

    let method: HTTPRequest.Method
    /// The path below ``prefix``, with names in braces for its variable segments.
    let path: String
    let right: AdministrationRight
    let perform: @Sendable (AdministrationCall) async throws -> Reply

    init(
        _ method: HTTPRequest.Method, _ path: String, _ right: AdministrationRight = .readUsers,
        _ perform: @escaping @Sendable (AdministrationCall) async throws -> Reply
    ) {
        self.method = method
        self.path = path
        self.right = right
        self.perform = perform
    }
}

/// The endpoints of SCIM, which the server has with the administration API.
///
/// A caller is authenticated and judged as at the administration API.
struct SCIMEndpoints: Sendable {
    /// A path with its operations.
    fileprivate struct Path: Sendable {
        let endpoint: Endpoint
        let operations: [SCIMOperation]
    }

    fileprivate static let paths: [Path] = {
        var order: [String] = []
        for operation in SCIMOperation.all where !order.contains(operation.path) { order.append(operation.path) }
        return order.map { path in
            let operations = SCIMOperation.all.filter { $0.path == path }
            return Path(endpoint: .scim(path, operations.map(\.method)), operations: operations)
        } + SCIMEndpoints.others
    }()

    /// The paths of resource types that the server does not have, which get an error in the form of SCIM.
    private static let others = ["/{type}", "/{type}/{resource}"].map { path in
        Path(endpoint: .scim(path, [.get, .post, .put, .patch, .delete]), operations: [])
    }

    let components: ServerComponents
    /// The endpoints of the pages of the server.
    let pages: [Endpoint]

    var handlers: [EndpointHandler] {
        Self.paths.map { path in
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
        guard components.settings.offersAdministrationAPI,
            let operation = path.operations.first(where: { $0.method == request.head.method })
        else { throw NotFoundError() }
        let caller = try await AdministrationAccess(components).caller(
            of: request, at: path.endpoint, for: operation.right, now: now, client: &client)
        let call = AdministrationCall(
            request: request, caller: caller, components: components, now: now,
            query: try QueryValues("", allowing: []), pages: pages)
        do {
            return try await operation.perform(call)
        } catch let refusal as RoleRefusal { throw ProblemError(refusal) }
    }
}

extension Endpoint {
    /// The endpoints of SCIM, one for each path.
    package static let scim: [Endpoint] = SCIMEndpoints.paths.map(\.endpoint)

    fileprivate static func scim(_ path: String, _ methods: [HTTPRequest.Method]) -> Endpoint {
        Endpoint(
            name: "scim\(path)", path: SCIMOperation.prefix + path, methods: methods, bodyLimit: 64 * 1024,
            answersUsers: false
        ).with {
            $0.isOfAdministrationAPI = true
            $0.speaksSCIM = true
        }
    }
}
