import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Foundation

/// The addresses that a server sees for requests of this machine at its issuer.
struct ObservedAddresses {
    /// The address that a client without a proxy of its own claims for itself: one for documentation (RFC 5737 §3).
    static let forged = "192.0.2.1"
    /// The fields in which proxies pass on the address of a client.
    static let forgeries = [(name: "X-Forwarded-For", value: forged), (name: "Forwarded", value: "for=" + forged)]

    /// The address without such a field.
    let honest: AddressCheck.Answer
    /// The addresses with a forged one, by the name of its field.
    let withForged: [(field: String, answer: AddressCheck.Answer)]
}

extension ServerFindings {
    /// Checks from which address the server sees requests, and whether a client can choose its own.
    mutating func checkAddresses(_ probe: IssuerProbe, of issuer: Issuer, serverKey: ServerKey) async {
        let proof = AddressCheck(serverKey: serverKey).proof(now: Date())
        do {
            guard let honest = try await probe.address(proof: proof) else { return noteUnknownAddress(issuer, "") }
            var withForged: [(field: String, answer: AddressCheck.Answer)] = []
            for forgery in ObservedAddresses.forgeries {
                guard let answer = try await probe.address(proof: proof, forwarding: forgery) else {
                    return noteUnknownAddress(issuer, "")
                }
                withForged.append((forgery.name, answer))
            }
            judge(ObservedAddresses(honest: honest, withForged: withForged))
        } catch {
            noteUnknownAddress(issuer, ": \(error)")
        }
    }

    private mutating func noteUnknownAddress(_ issuer: Issuer, _ reason: String) {
        advise(
            "address-unchecked", "the server did not say from which address it sees this machine\(reason)",
            mend: "let the reverse proxy forward \(issuer)/livez, and restart servers of another version or with "
                + "another server key")
    }

    /// Judges the addresses that the server sees.
    mutating func judge(_ seen: ObservedAddresses) {
        let source = seen.honest.source
        let believed = seen.withForged.first { $0.answer.source == ObservedAddresses.forged }
        let hidden = seen.withForged.first { $0.answer.source != source }
        // The server trusts this machine at its loopback address, which only programs on this machine have.
        let isLocal = ["127.0.0.1", "::1", CountedSource.unixSocket].contains(source)
        if let believed, !isLocal {
            fault(
                "address-forged", "a client can choose its address: the server believes its field \(believed.field)",
                mend: "let the reverse proxy replace the field, and name only the proxy with trusted-proxy")
        } else if source.hasPrefix("unknown") {
            fault(
                "address-unreadable", "the server cannot read the address of its clients: it sees \(source)",
                mend:
                    "let the reverse proxy send X-Forwarded-For or Forwarded, not both, with the address of its client")
        } else if let believed {
            advise(
                "address-local",
                "the server sees this machine as \(source), whose field \(believed.field) it believes",
                mend: "if no proxy connects from there, take it out of trusted-proxy; otherwise look at source of a "
                    + "sign-in from another machine, with audit list")
        } else if !seen.honest.isCounted {
            advise(
                "address-hidden", "the server sees this machine as \(source), for which it counts no failed sign-ins",
                mend: "if a sign-in from another machine has this source in audit list, too, name the proxy with "
                    + "trusted-proxy, and let it send X-Forwarded-For")
        } else if let hidden {
            advise(
                "address-evaded",
                "a client that sends \(hidden.field) hides its address: the server sees \(hidden.answer.source)",
                mend: "let the reverse proxy remove the field \(hidden.field) of its clients")
        } else {
            sound("address", "the server sees this machine as \(source), whatever its header fields say")
        }
    }
}
