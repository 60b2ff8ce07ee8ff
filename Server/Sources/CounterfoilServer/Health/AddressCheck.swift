@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) package import CounterfoilTokens
package import Foundation
import HTTPTypes

/// The question of an operator to a running server, from which address a request comes.
///
/// The command `doctor` asks it. The answer shows whether the proxies pass on the addresses of clients, and whether a
/// client can choose its own. A request asks with a proof of the server key, because only an operator should learn
/// which fields the server believes.
package struct AddressCheck: Sendable {
    /// The answer: the address of a request, as the server sees it.
    package struct Answer: Sendable, Hashable {
        /// The source, by which failed sign-ins are counted and which the audit log contains.
        package let source: String
        /// Whether failed sign-ins are counted for the source.
        ///
        /// They are not for a local proxy that hides its clients.
        package let isCounted: Bool

        package init(source: String, isCounted: Bool) {
            self.source = source
            self.isCounted = isCounted
        }

        /// Reads the answer of `/livez`; nil if the server did not accept the proof.
        package init?(_ members: [String: JSONValue]) {
            guard case .string(let source)? = members["source"], case .boolean(let isCounted)? = members["counted"]
            else { return nil }
            self.init(source: source, isCounted: isCounted)
        }

        func encoded() throws -> [UInt8] {
            try JSONValue.object([
                "status": .string("alive"), "source": .string(source), "counted": .boolean(isCounted),
            ]).encoded()
        }
    }

    /// The header field of the proof.
    package static let field = "Counterfoil-Address-Check"

    /// The time in seconds for which a proof is valid.
    private static let lifetime: TimeInterval = 60
    private static let holder = "doctor"

    private let tickets: TicketAuthority

    init(tickets: TicketAuthority) { self.tickets = tickets }

    package init(serverKey: ServerKey) { self.init(tickets: TicketAuthority(keys: serverKey.tickets)) }

    /// Returns a new proof of the server key.
    package func proof(random: RandomBytes = RandomBytes(), now: Date) -> String {
        tickets.issue(
            .addressCheck, to: Self.holder, request: "", interaction: InteractionIdentifier(random: random),
            expires: now.addingTimeInterval(Self.lifetime))
    }

    /// Returns the answer to a request; nil if it asks nothing, or has no valid proof.
    func answer(to request: IncomingRequest, issuer: Issuer, now: Date) -> Answer? {
        guard let name = HTTPField.Name(Self.field), let proof = request.head.headerFields[name],
            (try? tickets.check(proof, .addressCheck, of: Self.holder, request: "", now: now)) != nil
        else { return nil }
        return Answer(source: request.source, isCounted: request.countedSource(issuer) != nil)
    }
}
