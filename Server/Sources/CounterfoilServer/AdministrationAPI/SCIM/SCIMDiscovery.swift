import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

extension SCIMOperation {
    /// The operations that describe the server (RFC 7644 §4).
    static let discovery: [SCIMOperation] = [
        SCIMOperation(.get, "/ServiceProviderConfig") { call in
            Reply(.ok, .scim(try JSONValue.object(SCIMDiscovery.configuration(call)).encoded()))
        },
        SCIMOperation(.get, "/ResourceTypes") { call in
            try Reply(scimList: [.object(SCIMDiscovery.userType(call))], total: 1)
        },
        SCIMOperation(.get, "/ResourceTypes/{name}") { call in
            guard try call.segment("name") == "User" else { throw NotFoundError() }
            return Reply(.ok, .scim(try JSONValue.object(SCIMDiscovery.userType(call)).encoded()))
        },
        SCIMOperation(.get, "/Schemas") { call in
            try Reply(scimList: [.object(SCIMDiscovery.userSchema(call))], total: 1)
        },
        SCIMOperation(.get, "/Schemas/{name}") { call in
            guard try call.segment("name") == SCIMAttribute.userSchema else { throw NotFoundError() }
            return Reply(.ok, .scim(try JSONValue.object(SCIMDiscovery.userSchema(call)).encoded()))
        },
    ]
}

/// The documents that describe the server (RFC 7643 §5 to §7).
private enum SCIMDiscovery {
    private static let schemas = "urn:ietf:params:scim:schemas:core:2.0:"

    static func configuration(_ call: AdministrationCall) -> [String: JSONValue] {
        func supported(_ isSupported: Bool, _ more: [String: JSONValue] = [:]) -> JSONValue {
            .object(["supported": .boolean(isSupported)].merging(more) { $1 })
        }
        return [
            "schemas": .array([.string(schemas + "ServiceProviderConfig")]),
            "patch": supported(true),
            "bulk": supported(false, ["maxOperations": .integer(0), "maxPayloadSize": .integer(0)]),
            "filter": supported(true, ["maxResults": .integer(Int64(SCIMQuery.countLimit))]),
            "changePassword": supported(false), "sort": supported(false), "etag": supported(true),
            "authenticationSchemes": .array([
                .object([
                    "type": .string("oauthbearertoken"), "name": .string("OAuth bearer token"),
                    "description": .string(
                        "An access token of this server with the scopes counterfoil.admin.users:read and "
                            + "counterfoil.admin.users:write"),
                    "specUri": .string("https://www.rfc-editor.org/info/rfc6750"), "primary": .boolean(true),
                ])
            ]),
            "meta": meta("ServiceProviderConfig", at: "/ServiceProviderConfig", call),
        ]
    }

    static func userType(_ call: AdministrationCall) -> [String: JSONValue] {
        [
            "schemas": .array([.string(schemas + "ResourceType")]), "id": .string("User"), "name": .string("User"),
            "endpoint": .string("/Users"), "description": .string("User account"),
            "schema": .string(SCIMAttribute.userSchema), "meta": meta("ResourceType", at: "/ResourceTypes/User", call),
        ]
    }

    static func userSchema(_ call: AdministrationCall) -> [String: JSONValue] {
        [
            "schemas": .array([.string(schemas + "Schema")]), "id": .string(SCIMAttribute.userSchema),
            "name": .string("User"), "description": .string("User account"),
            "attributes": .array(Description.user.map(\.json)),
            "meta": meta("Schema", at: "/Schemas/" + SCIMAttribute.userSchema, call),
        ]
    }

    private static func meta(_ type: String, at path: String, _ call: AdministrationCall) -> JSONValue {
        .object(["resourceType": .string(type), "location": .string(call.scimURL(path))])
    }

    /// The description of an attribute (RFC 7643 §7).
    private struct Description: Sendable {
        let name: String
        var type = "string"
        let text: String
        var isMultiValued = false
        var isRequired = false
        var mutability = "readWrite"
        var uniqueness = "none"
        var canonicalValues: [String] = []
        var parts: [Description] = []

        static let user = [
            Description(
                name: "userName", text: "The username: 1 to 64 letters, digits and . _ -", isRequired: true,
                mutability: "immutable", uniqueness: "server"),
            Description(
                name: "name", type: "complex", text: "The parts of the name",
                parts: [
                    Description(name: "givenName", text: "The given name"),
                    Description(name: "familyName", text: "The family name"),
                    Description(name: "middleName", text: "The middle name"),
                ]),
            Description(
                name: "displayName", text: "The display name; by default the username", isRequired: true),
            Description(
                name: "emails", type: "complex", text: "The email address, at most one", isMultiValued: true,
                parts: [
                    Description(name: "value", text: "The email address", uniqueness: "server"),
                    Description(name: "type", text: "The type, always work", canonicalValues: ["work"]),
                ]),
            Description(
                name: "active", type: "boolean", text: "Whether the user can sign in; by default true",
                isRequired: true),
        ]

        var json: JSONValue {
            var members: [String: JSONValue] = [
                "name": .string(name), "type": .string(type), "description": .string(text),
                "multiValued": .boolean(isMultiValued), "required": .boolean(isRequired),
                "mutability": .string(mutability), "returned": .string("default"),
            ]
            if type == "string" {
                members["caseExact"] = .boolean(false)
                members["uniqueness"] = .string(uniqueness)
            }
            if !canonicalValues.isEmpty { members["canonicalValues"] = .array(canonicalValues.map(JSONValue.string)) }
            if !parts.isEmpty { members["subAttributes"] = .array(parts.map(\.json)) }
            return .object(members)
        }
    }
}
