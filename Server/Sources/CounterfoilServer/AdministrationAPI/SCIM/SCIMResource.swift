import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

extension AdministrationCall {
    /// Returns the URL of a path of SCIM.
    func scimURL(_ path: String) -> String { settings.issuer.endpoint(SCIMOperation.prefix + path) }

    private func scimURL(of user: User) -> String { scimURL("/Users/" + Self.escaped(user.id.rawValue)) }

    /// Returns the version of a user in SCIM, a weak entity tag (RFC 7644 §3.14).
    static func scimVersion(of user: User) throws -> String { "W/" + (try AccountDocument.version(of: user).text) }

    /// Returns the representation of a user (RFC 7643 §4.1).
    func scimResource(_ user: User) throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "schemas": .array([.string(SCIMAttribute.userSchema)]), "id": .string(user.id.rawValue),
            "userName": .string(user.username.rawValue), "displayName": .string(user.displayName),
            "active": .boolean(user.disabledAt == nil),
            "meta": .object([
                "resourceType": .string("User"), "location": .string(scimURL(of: user)),
                "version": .string(try Self.scimVersion(of: user)),
                "created": .string(user.createdAt.formatted(.iso8601)),
                "lastModified": .string(user.changedAt.formatted(.iso8601)),
            ]),
        ]
        if let id = user.externalID { members["externalId"] = .string(id.rawValue) }
        if let email = user.email {
            members["emails"] = .array([.object(["value": .string(email.rawValue), "type": .string("work")])])
        }
        let profile = user.profile
        let names = [
            "givenName": profile.givenName, "familyName": profile.familyName, "middleName": profile.middleName,
        ].compactMapValues { $0.map(JSONValue.string) }
        if !names.isEmpty { members["name"] = .object(names) }
        return members
    }

    /// Returns the response with a user.
    func scimReply(_ user: User, _ projection: SCIMProjection, status: HTTPResponse.Status = .ok) throws -> Reply {
        var fields: HTTPFields = [.eTag: try Self.scimVersion(of: user)]
        if status == .created { fields[.location] = scimURL(of: user) }
        let members = projection.applied(to: try scimResource(user))
        return Reply(status, .scim(try JSONValue.object(members).encoded()), fields: fields)
    }

    /// Returns true if a header field names the version of a user, by the weak comparison (RFC 9110 §8.8.3.2).
    func names(_ user: User, in field: HTTPField.Name) throws -> Bool {
        let values = request.head.headerFields[values: field]
        guard !values.isEmpty else { return false }
        let version = try Self.scimVersion(of: user)
        let tags = values.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        return tags.contains { $0 == "*" || $0 == version || "W/" + $0 == version }
    }
}

extension Reply {
    /// Creates the response with a page of a list (RFC 7644 §3.4.2).
    init(scimList resources: [JSONValue], total: Int, startIndex: Int = 1) throws {
        let list: [String: JSONValue] = [
            "schemas": .array([.string("urn:ietf:params:scim:api:messages:2.0:ListResponse")]),
            "totalResults": .integer(Int64(total)), "startIndex": .integer(Int64(startIndex)),
            "itemsPerPage": .integer(Int64(resources.count)), "Resources": .array(resources),
        ]
        self.init(.ok, .scim(try JSONValue.object(list).encoded()))
    }
}
