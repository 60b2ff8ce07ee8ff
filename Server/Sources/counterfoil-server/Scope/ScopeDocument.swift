import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// A scope in the output of commands.
struct ScopeDocument: Encodable {
    private let scope: ScopeDefinition

    init(_ scope: ScopeDefinition) { self.scope = scope }

    private enum CodingKeys: String, CodingKey {
        case scope, description, listed, reserved, standard, texts
        case startsTicked = "starts_ticked"
        case claims
        case claimsIn = "claims_in"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(scope.token.rawValue, forKey: .scope)
        try values.encode(scope.description, forKey: .description)
        try values.encode(isListed, forKey: .listed)
        try values.encode(scope.startsTicked, forKey: .startsTicked)
        try values.encode(scope.isReserved, forKey: .reserved)
        try values.encode(scope.token.isStandard, forKey: .standard)
        if !scope.claims.isEmpty {
            try values.encode(claims, forKey: .claims)
            try values.encode(places, forKey: .claimsIn)
        }
        try values.encode(
            Dictionary(uniqueKeysWithValues: scope.texts.map { ($0.key.rawValue, $0.value) }), forKey: .texts)
    }

    private var claims: [String] { scope.claims.names.sorted().map(\.rawValue) }

    private var places: [String] { scope.claims.places.map(\.rawValue).sorted() }

    private var isListed: Bool { scope.isListed || scope.token.isStandard }

    /// The scope as one line of text.
    var line: String {
        var parts = [
            scope.token.rawValue, isListed ? "listed" : "unlisted", scope.startsTicked ? "ticked" : "unticked",
        ]
        if scope.isReserved { parts.append("reserved") }
        if !scope.claims.isEmpty {
            parts.append("claims " + claims.joined(separator: ",") + " in " + places.joined(separator: ","))
        }
        return (parts + ["\(DisplayName(scope.description))"]).joined(separator: "  ")
    }

    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(line)
    }
}
