import CounterfoilClient
import CounterfoilProtocol
import HTTPTypes

/// The check of DPoP proofs at the token endpoint (RFC 9449 §5).
extension Examination {
    /// Requests tokens with an invalid code and an invalid proof, and checks that the server rejects the proof.
    ///
    /// A server may reject the client or the code before it reads the proof. The response then shows nothing, and the
    /// report says that bound tokens were not tried.
    mutating func proofs(at server: AuthorizationServerConfiguration) async {
        guard announcesES256Proofs(server), has("token-refuses") || has("dpop-required"),
            let field = HTTPField.Name("DPoP"), let client = subject.clientID ?? Self.unknownClient,
            let response = await post(
                Self.invalidCode(), to: server.tokenEndpoint, of: client, at: server, headerFields: [field: "invalid"],
                as: "token endpoint"),
            let word = Self.members(response)?.text("error")
        else { return }
        switch word {
        case "invalid_dpop_proof", "use_dpop_nonce":
            sound("dpop-checks", "the token endpoint rejects an invalid proof of a key (\(word))")
        default: break
        }
    }

    /// Returns true if the metadata announce DPoP with the algorithm of this client (RFC 9449 §5.1).
    func announcesES256Proofs(_ server: AuthorizationServerConfiguration) -> Bool {
        server.proofAlgorithms?.contains("ES256") == true
    }
}
