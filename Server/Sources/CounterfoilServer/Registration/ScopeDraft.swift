package import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// A scope as an administrator entered it, before it is checked.
package struct ScopeDraft: Sendable, Hashable {
    package var name = ""
    /// The texts for users by language; the one in ``Language/standard`` is required.
    package var texts: [Language: String] = [:]
    package var isListed = false
    package var startsTicked = false
    package var isReserved = false
    /// The names of the claims that the scope releases, delimited by white space or commas.
    package var claims = ""
    /// The places in which clients get the claims; without claims, they have no effect.
    package var claimPlaces: Set<ReleasedClaims.Place> = []

    /// Creates an empty draft.
    package init() {}

    /// Creates a draft from a scope, to edit it.
    package init(_ scope: ScopeDefinition) {
        name = scope.token.rawValue
        texts = scope.texts
        texts[.standard] = scope.description
        isListed = scope.isListed || scope.token.isStandard
        startsTicked = scope.startsTicked
        isReserved = scope.isReserved
        claims = scope.claims.names.sorted().map(\.rawValue).joined(separator: "\n")
        claimPlaces = scope.claims.places
    }

    package enum Field: Sendable, Hashable {
        case name, isListed, startsTicked, isReserved, claims, claimPlaces
        case text(Language)

        /// The name of the field in the submitted form.
        package var name: String {
            switch self {
            case .name: "name"
            case .isListed: "listed"
            case .startsTicked: "starts_ticked"
            case .isReserved: "reserved"
            case .claims: "claims"
            case .claimPlaces: "claim_places"
            case .text(let language): "text_\(language.rawValue)"
            }
        }
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

        package init(_ field: Field?, _ reason: Reason) { self.init(field, reason.text) }

        package enum Reason: String, LocalizationKey {
            case notAName = "scopes.not-a-name"
            case nameOfStandard = "scopes.name-of-standard"
            case nameTaken = "scopes.name-taken"
            case notAText = "scopes.not-a-text"
            case standardIsListed = "scopes.standard-is-listed"
            case changedMeanwhile = "scopes.changed-meanwhile"
            case inUse = "scopes.in-use"
            case claimsOfStandard = "scopes.claims-of-standard"
            case noClaimPlace = "scopes.no-claim-place"
        }
    }

    /// Checks the draft of a new scope.
    package func checkedAsNew() throws(ScopeRefusal) -> ScopeDefinition {
        guard let token = Scope.Token(name) else {
            throw ScopeRefusal([FieldProblem(.name, .notAName)] + textProblems + claimProblems)
        }
        guard !token.isStandard else {
            throw ScopeRefusal([FieldProblem(.name, .nameOfStandard)] + textProblems + claimProblems)
        }
        return try checked(as: token)
    }

    /// Checks the draft of a scope that exists, whose name cannot change.
    package func checked(as token: Scope.Token) throws(ScopeRefusal) -> ScopeDefinition {
        var problems = textProblems + claimProblems
        if token.isStandard, !isListed { problems.append(FieldProblem(.isListed, .standardIsListed)) }
        if token.isStandard, !claimNames.isEmpty { problems.append(FieldProblem(.claims, .claimsOfStandard)) }
        guard problems.isEmpty else { throw ScopeRefusal(problems) }
        let texts = texts.mapValues(Self.trimmed).filter { !$0.value.isEmpty }
        return ScopeDefinition(
            token: token, description: texts[.standard] ?? "", texts: texts.filter { $0.key != .standard },
            isListed: isListed, startsTicked: startsTicked, isReserved: isReserved,
            claims: claimNames.isEmpty
                ? ReleasedClaims()
                : ReleasedClaims(names: Set(claimNames.compactMap(ClaimName.init(_:))), places: claimPlaces))
    }

    private var claimNames: [String] { claims.split { $0.isWhitespace || $0 == "," }.map(String.init) }

    private var claimProblems: [FieldProblem] {
        let names = claimNames
        guard Set(names).count <= ReleasedClaims.limit else {
            return [FieldProblem(.claims, ClaimProblem.tooManyInScope)]
        }
        if let problem = names.compactMap({ ClaimProblem(withName: $0) }).first {
            return [FieldProblem(.claims, problem)]
        }
        return names.isEmpty || !claimPlaces.isEmpty ? [] : [FieldProblem(.claimPlaces, .noClaimPlace)]
    }

    private var textProblems: [FieldProblem] {
        Language.allCases.filter { !Self.accepts(texts[$0] ?? "", in: $0) }
            .map { FieldProblem(.text($0), .notAText) }
    }

    /// Returns whether a text can be that of a scope; only the text in the standard language is required.
    package static func accepts(_ text: String, in language: Language) -> Bool {
        let text = trimmed(text)
        guard language == .standard || !text.isEmpty else { return true }
        return DisplayName.isShownWhole(text, length: ScopeDefinition.descriptionLength)
    }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespaces) }
}

/// The error that ``ScopeDraft`` throws for an invalid scope, with the problems of all fields.
package struct ScopeRefusal: Error, Sendable, Hashable {
    /// The problems; never empty.
    package let problems: [ScopeDraft.FieldProblem]

    package init(_ problems: [ScopeDraft.FieldProblem]) { self.problems = problems }
}

extension ScopeDefinition {
    /// A digest of the definition, by which a form finds that the scope has changed since it was shown.
    package var revision: String {
        RecordDigest(
            [
                token.rawValue, description, "\(isListed)", "\(startsTicked)", "\(isReserved)",
                claims.names.sorted().map(\.rawValue).joined(separator: " "),
                claims.places.map(\.rawValue).sorted().joined(separator: " "),
            ] + texts.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { [$0.key.rawValue, $0.value] }
        ).text
    }
}
