import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

extension ScopeDocument {
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
