import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A directory that sends SCIM requests with a token of its own.
struct SCIMDesk {
    static let users = "counterfoil.admin.users:read counterfoil.admin.users:write"
    static let userSchema = "urn:ietf:params:scim:schemas:core:2.0:User"

    let desk: AdministrationDesk
    let token: AccessToken

    init(store: any AuthorizationServerStore = TestStore(), scope: String = Self.users) async throws {
        desk = try await AdministrationDesk(store: store)
        token = try await desk.serviceToken(scope, of: "Directory")
    }

    /// Sends a request to a path of SCIM.
    func send(
        _ method: HTTPRequest.Method, _ path: String, json: String? = nil, as token: AccessToken? = nil,
        fields: HTTPFields = [:]
    ) async throws -> Reply {
        let target = "/scim/v2" + path
        let server = desk.test.server
        let route = try #require(server.routing.routes.route(target.prefix { $0 != "?" }), "\(path)")
        var sent = fields
        if sent[.authorization] == nil { sent[.authorization] = "Bearer \((token ?? self.token).exposed)" }
        if json != nil, sent[.contentType] == nil { sent[.contentType] = "application/scim+json" }
        let head = HTTPRequest(method: method, scheme: nil, authority: nil, path: target, headerFields: sent)
        return await server.respond(
            to: IncomingRequest(
                head: head, body: Array((json ?? "").utf8), source: "192.0.2.1", id: "request",
                parameters: route.parameters),
            at: route.endpoint)
    }

    /// Creates a user, and returns the identifier.
    func create(_ members: String) async throws -> String {
        let reply = try await send(.post, "/Users", json: #"{"schemas": ["\#(Self.userSchema)"], \#(members)}"#)
        #expect(reply.status == .created)
        return try #require(try reply.members["id"] as? String)
    }

    /// Sends a PATCH request with operations.
    func patch(_ id: String, _ operations: String, fields: HTTPFields = [:]) async throws -> Reply {
        try await send(
            .patch, "/Users/\(id)",
            json: """
                {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [\(operations)]}
                """, fields: fields)
    }

    /// Lists the users whom a filter finds.
    func find(_ filter: String) async throws -> Reply {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "()"))
        let encoded = try #require(filter.addingPercentEncoding(withAllowedCharacters: allowed))
        return try await send(.get, "/Users?filter=" + encoded)
    }
}

extension Reply {
    /// The `scimType` of an error of SCIM; nil if the body is none, or has no type.
    var scimType: String? { (try? members["scimType"]) as? String }

    /// The usernames in a list of SCIM.
    var userNames: [String] {
        get throws {
            let resources = try #require(try members["Resources"] as? [[String: Any]])
            return resources.compactMap { $0["userName"] as? String }
        }
    }
}
