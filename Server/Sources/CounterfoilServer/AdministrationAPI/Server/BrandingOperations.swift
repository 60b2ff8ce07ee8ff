@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the branding, without the logo.
    static let branding: [AdministrationOperation] = [
        AdministrationOperation("getBranding", .get, "/branding", .readServer, answer: .object(BrandingDocument.self)) {
            call in
            try AdministrationAnswer(branding: try await call.components.registry.fresh().branding())
        },
        AdministrationOperation(
            "changeBranding", .patch, "/branding", .writeServer, body: BrandingBody.self,
            answer: .object(BrandingDocument.self), isConditional: true
        ) { call, body in
            let former = try await call.components.registry.fresh().branding()
            try call.requireMatch(try BrandingDocument.version(of: former))
            var draft = BrandingDraft(former)
            body.write(into: &draft)
            let (changed, problems) = draft.checked(revision: former.revision, formats: call.components.formats)
            guard problems.isEmpty else { throw ProblemError(problems) }
            let event = call.event(.setting, detail: changed.difference(from: former))
            guard try await call.store.updateBranding(changed, logo: .keep, recording: [event]) == .updated else {
                throw ProblemError.changedMeanwhile
            }
            call.components.auditor.countRecorded(event)
            return try AdministrationAnswer(branding: try await call.components.registry.fresh().branding())
        },
    ]
}

/// The body with which the branding is changed: a JSON Merge Patch (RFC 7396).
struct BrandingBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case accent, statements
        case siteName = "site_name"
        case supportURI = "support_uri"
    }

    private let texts: [Member: String]
    private var statements: [Language: [String: String]] = [:]

    init?(_ members: inout BodyMembers<Member>) {
        var texts: [Member: String] = [:]
        for member in [Member.siteName, .accent, .supportURI] where members.has(member) {
            texts[member] = (members.text(member) ?? "").trimmingWhitespace()
        }
        self.texts = texts
        for (name, value) in (members.parts(.statements) ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let language = Language(rawValue: name) else {
                members.refuse(below: .statements, [name], "It must be a language of the server.")
                continue
            }
            switch value {
            case .null: statements[language] = ["text": "", "privacy_uri": ""]
            case .object(let parts): statements[language] = Self.statement(parts, in: name, &members)
            default: members.refuse(below: .statements, [name], "It must be an object or null.")
            }
        }
    }

    private static func statement(
        _ parts: [String: JSONValue], in language: String, _ members: inout BodyMembers<Member>
    ) -> [String: String] {
        var read: [String: String] = [:]
        for (part, value) in parts.sorted(by: { $0.key < $1.key }) {
            switch (part, value) {
            case ("text", .string(let text)), ("privacy_uri", .string(let text)): read[part] = text
            case ("text", .null), ("privacy_uri", .null): read[part] = ""
            default:
                members.refuse(
                    below: .statements, [language, part], "A statement has text and privacy_uri: strings or null.")
            }
        }
        return read
    }

    func write(into draft: inout BrandingDraft) {
        if let name = texts[.siteName] { draft.siteName = name }
        if let accent = texts[.accent] { draft.accent = accent }
        if let uri = texts[.supportURI] { draft.supportURI = uri }
        for (language, parts) in statements {
            var statement = draft.statements[language] ?? BrandingDraft.Statement()
            if let text = parts["text"] { statement.text = text }
            if let uri = parts["privacy_uri"] { statement.privacyURI = uri }
            draft.statements[language] = statement
        }
    }
}

/// The branding in answers of the administration API.
struct BrandingDocument: AdministrationDocument {
    typealias Member = CodingKeys

    let branding: Branding

    init(_ branding: Branding) { self.branding = branding }

    private struct Statement: Encodable {
        let text: String?
        let privacyURI: String?

        private enum CodingKeys: String, CodingKey {
            case text
            case privacyURI = "privacy_uri"
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case accent, statements
        case siteName = "site_name"
        case supportURI = "support_uri"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(branding.siteName, forKey: .siteName)
        try values.encodeIfPresent(branding.accent?.rawValue, forKey: .accent)
        try values.encodeIfPresent(branding.supportURI?.rawValue, forKey: .supportURI)
        let statements = branding.statements.map { language, statement in
            (language.rawValue, Statement(text: statement.text, privacyURI: statement.privacyURI?.rawValue))
        }
        try values.encode(Dictionary(statements, uniquingKeysWith: { first, _ in first }), forKey: .statements)
    }

    static func version(of branding: Branding) throws -> EntityTag {
        try EntityTag(of: ["branding", "\(branding.revision)"])
    }
}

extension AdministrationAnswer {
    fileprivate init(branding: Branding) throws {
        try self.init(BrandingDocument(branding), version: try BrandingDocument.version(of: branding))
    }
}

extension ProblemError {
    fileprivate init(_ problems: [BrandingDraft.FieldProblem]) {
        self = .invalidMembers(
            problems.map { problem in
                let detail = Localizer.english(problem.text)
                switch problem.field {
                case .text(let language)?:
                    return ProblemDetails.Part(pointer: "/statements/\(language.rawValue)/text", detail: detail)
                case .privacyURI(let language)?:
                    return ProblemDetails.Part(pointer: "/statements/\(language.rawValue)/privacy_uri", detail: detail)
                case let field: return .named(field?.name, detail)
                }
            })
    }
}
