@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
import CounterfoilTokens
import Crypto
package import Foundation

/// An API as an administrator entered it, before it is checked.
package struct APIDraft: Sendable, Hashable {
    package var uri = ""
    package var name = ""
    package var scopes: [String] = []
    /// The type of its access tokens, a raw value of `AccessTokenType`.
    package var tokenType = AccessTokenType.atJWT.rawValue
    package var requiresBoundTokens = false

    /// Creates an empty draft.
    package init() {}

    /// Creates a draft from an API, to edit it.
    package init(_ api: RegisteredResource) {
        uri = api.resource.rawValue
        name = api.name
        scopes = api.scope.tokens.map(\.rawValue)
        tokenType = api.tokenType.rawValue
        requiresBoundTokens = api.requiresBoundTokens
    }

    /// A field of the form; the raw value is its name.
    package enum Field: String, Sendable, Hashable {
        case uri, name
        case scopes = "scope"
        case tokenType = "jwt_type"
        case requiresBoundTokens = "bound_tokens"
    }

    /// An error in a draft; if ``field`` is nil, the error concerns the draft as a whole.
    package struct FieldProblem: Sendable, Hashable {
        package let field: Field?
        /// The error and its remedy.
        package let text: LocalizedText

        package init(_ field: Field?, _ error: some Localized) {
            self.field = field
            text = error.text
        }

        package init(_ field: Field?, _ reason: Reason, _ values: [String: LocalizedText.Value] = [:]) {
            self.init(field, LocalizedText(reason, values))
        }

        /// Creates the problems of scopes that do not exist.
        package static func unknown(_ scopes: Scope) -> [FieldProblem] {
            scopes.tokens.map { .unknown($0.rawValue) }
        }

        fileprivate static func unknown(_ name: String) -> FieldProblem {
            FieldProblem(
                .scopes,
                LocalizedText(ClientProblem.Reason.unknownScope, ["name": .text(String(name.prefix(100)))]))
        }

        package enum Reason: String, LocalizationKey {
            case notAURI = "apis.not-a-uri"
            case uriTaken = "apis.uri-taken"
            case notAName = "apis.not-a-name"
            case scopeMissing = "apis.scope-missing"
            case notATokenType = "apis.not-a-token-type"
            case changedMeanwhile = "apis.changed-meanwhile"
        }
    }

    /// Checks the draft of a new API; `clientID` and `secret` are the credentials that the API gets.
    package func checkedAsNew(
        clientID: ClientIdentifier, secret: ClientSecret, at time: Date
    ) throws(APIRefusal) -> RegisteredResource {
        var problems: [FieldProblem] = []
        let resource = try? Resource(uri.trimmingCharacters(in: .whitespaces))
        if resource == nil { problems.append(FieldProblem(.uri, .notAURI)) }
        let values = checkedValues(&problems)
        guard let resource, let values, problems.isEmpty else { throw APIRefusal(problems) }
        return RegisteredResource(
            resource: resource, clientID: clientID, name: values.name, scope: values.scope,
            tokenType: values.tokenType, requiresBoundTokens: requiresBoundTokens,
            secret: ArtefactDigest(of: secret), createdAt: time)
    }

    /// Checks the draft of an API that exists, whose URI and credentials stay.
    package func checked(as former: RegisteredResource) throws(APIRefusal) -> RegisteredResource {
        var problems: [FieldProblem] = []
        guard let values = checkedValues(&problems), problems.isEmpty else { throw APIRefusal(problems) }
        var api = former
        api.name = values.name
        api.scope = values.scope
        api.tokenType = values.tokenType
        api.requiresBoundTokens = requiresBoundTokens
        return api
    }

    /// Returns whether pages can show a name as it is, without white space at its ends.
    package static func accepts(name: String) -> Bool {
        DisplayName.isShownWhole(name.trimmingCharacters(in: .whitespacesAndNewlines), length: 1...100)
    }

    private func checkedValues(
        _ problems: inout [FieldProblem]
    ) -> (name: String, scope: Scope, tokenType: AccessTokenType)? {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        if !Self.accepts(name: name) { problems.append(FieldProblem(.name, .notAName)) }
        let tokens = scopes.map { (name: $0, token: Scope.Token($0)) }
        problems += tokens.filter { $0.token == nil }.map { .unknown($0.name) }
        if tokens.isEmpty { problems.append(FieldProblem(.scopes, .scopeMissing)) }
        guard let tokenType = AccessTokenType(rawValue: tokenType) else {
            problems.append(FieldProblem(.tokenType, .notATokenType))
            return nil
        }
        return (name, Scope(tokens.compactMap(\.token)), tokenType)
    }
}

/// The error that ``APIDraft`` throws for an invalid API, with the problems of all fields.
package struct APIRefusal: Error, Sendable, Hashable {
    /// The problems; never empty.
    package let problems: [APIDraft.FieldProblem]

    package init(_ problems: [APIDraft.FieldProblem]) { self.problems = problems }
}

extension RegisteredResource {
    /// A digest of what a form can change, by which it finds that the API has changed since it was shown.
    package var revision: String {
        RecordDigest([resource.rawValue, name, scope.description, tokenType.rawValue, "\(requiresBoundTokens)"]).text
    }

    /// A digest of the digest of the secret, by which a form finds that the secret was replaced since it was shown.
    package var secretRevision: String { RecordDigest([Base64URL.encode(secret.bytes)]).text }
}

/// The digest of a record that has no revision number.
struct RecordDigest {
    let text: String

    /// Creates the digest of values in a fixed order.
    init(_ values: [String]) {
        let joined = values.map { "\($0.utf8.count):\($0)" }.joined()
        text = Base64URL.encode(Array(SHA256.hash(data: Data(joined.utf8)).prefix(16)))
    }
}
