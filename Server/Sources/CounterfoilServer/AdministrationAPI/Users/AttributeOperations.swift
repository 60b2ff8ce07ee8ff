import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the groups and attributes of users.
    static let userAttributes: [AdministrationOperation] = [
        AdministrationOperation(
            "getAttributes", .get, "/users/{user}/attributes", .readUsers, answer: .object(AttributesDocument.self)
        ) { call in try AdministrationAnswer(try await call.store.attributes(of: try await call.user().id)) },
        AdministrationOperation(
            "setAttributes", .put, "/users/{user}/attributes", .writeUsers, body: AttributesBody.self,
            answer: .object(AttributesDocument.self), isConditional: true
        ) { call, body in
            let user = try await call.changeableUser().id
            let stored = try await call.store.attributes(of: user)
            try call.requireMatch(try EntityTag(of: AttributesDocument(stored)))
            guard body.attributes != stored else { return try AdministrationAnswer(stored) }
            switch try await call.users.changeAttributes(of: user, from: stored, to: body.attributes) {
            case .updated: return try AdministrationAnswer(body.attributes)
            case .changedMeanwhile, .emailTaken: throw ProblemError.changedMeanwhile
            case .notFound: throw NotFoundError()
            }
        },
        AdministrationOperation(
            "previewClaims", .get, "/users/{user}/claims", .readUsers, query: ["client_id"],
            answer: .object(ClaimsDocument.self)
        ) { call in
            let user = try await call.user()
            let rule = "It must be the client_id of an app."
            guard let id = try call.query.value("client_id", rule: rule, { ClientIdentifier($0) }),
                let client = try await call.components.registry.fresh().client(id)
            else { throw ProblemError.refusedParameters([.parameter("client_id", rule)]) }
            try call.requireKnownServer()
            return try AdministrationAnswer(
                ClaimsDocument(try await call.components.claimPreviews.preview(of: user, at: client)))
        },
    ]
}

extension AdministrationAnswer {
    fileprivate init(_ attributes: UserAttributes) throws {
        let document = AttributesDocument(attributes)
        try self.init(document, version: try EntityTag(of: document))
    }
}

/// The body that replaces the groups and attributes of a user.
struct AttributesBody: AdministrationBody {
    enum Member: String, CaseIterable { case groups, attributes }

    let attributes: UserAttributes

    init?(_ members: inout BodyMembers<Member>) {
        for member in Member.allCases where !members.has(member) || members.isNull(member) {
            members.refuse(member, "It is required.")
        }
        guard members.problems.isEmpty,
            let attributes = members.userAttributes(groups: .groups, attributes: .attributes)
        else { return nil }
        self.attributes = attributes
    }
}

extension BodyMembers {
    /// Returns groups and attributes, without those that are absent or null; nil if one is refused.
    mutating func userAttributes(groups: Member, attributes: Member) -> UserAttributes? {
        let former = problems.count
        let names = texts(groups) ?? []
        let values = object(attributes) ?? [:]
        guard problems.count == former else { return nil }
        var parsed: Set<GroupName> = []
        do throws(ClaimProblem) { parsed = try UserAttributesDraft.groups(names) } catch {
            refuse(groups, Localizer.english(error))
        }
        do {
            let text = String(decoding: try JSONValue.object(values).encoded(), as: UTF8.self)
            let checked = try UserAttributesDraft(groups: "", attributes: text).checked()
            return try UserAttributes(groups: parsed, values: checked.values)
        } catch let refusal as UserAttributesDraft.Refusal {
            for problem in refusal.problems { refuse(attributes, Localizer.english(problem.problem)) }
        } catch let refusal as UserAttributes.Refusal {
            refuse(
                refusal == .tooManyGroups ? groups : attributes, Localizer.english(ClaimProblem.refused(refusal)))
        } catch {
            refuse(attributes, "It cannot be stored.")
        }
        return nil
    }
}

/// The groups and attributes of a user.
struct AttributesDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case groups, attributes }

    let groups: [String]
    let attributes: [String: AttributeValue]

    init(_ stored: UserAttributes) {
        groups = stored.groups.sorted().map(\.rawValue)
        attributes = Dictionary(
            stored.values.map { ($0.key.description, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The claims about a user that an app would get now.
struct ClaimsDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case scope, allowed
        case idToken = "id_token"
        case accessToken = "access_token"
        case userInfo = "userinfo"
    }

    let scope: String
    let allowed: Bool
    let idToken: [String: JSONValue]?
    let accessToken: [String: JSONValue]
    let userInfo: [String: JSONValue]?

    init(_ preview: ClaimPreview) {
        scope = preview.scope.description
        allowed = preview.isAllowed
        idToken = preview.idToken
        accessToken = preview.accessToken
        userInfo = preview.userInfo
    }
}
