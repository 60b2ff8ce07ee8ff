import CounterfoilProtocol
import Foundation
import WebAuthn

/// Verifies responses of passkeys, for comparison with other implementations.
///
/// It reads one JSON object from each line of standard input, and prints a line for each: `accepted`, or the step and
/// the reason of the refusal.
@main
enum Main {
    static func main() {
        while let line = readLine() {
            guard let task = try? JSONDecoder().decode(Task.self, from: Data(line.utf8)) else {
                print("this line is no task")
                continue
            }
            do {
                try task.verify()
                print("accepted")
            } catch let refusal as CeremonyRefusal {
                print("step \(refusal.step): \(refusal)")
            } catch {
                print("this task is not valid: \(error)")
            }
        }
    }
}

/// A response, and what a server expects of it, with bytes in base64url.
struct Task: Decodable {
    struct Malformed: Error {}

    /// The credential of an authentication; nil for a registration.
    struct Credential: Decodable {
        let id: String
        let publicKey: String
        let signatureCounter: UInt32
        let userHandle: String
    }

    let response: String
    let challenge: String
    let relyingPartyID: String
    let origin: String
    let algorithms: [Int64]
    let requiresUserVerification: Bool
    let credential: Credential?

    func verify() throws {
        let relyingParty = RelyingParty(id: relyingPartyID, origins: [origin])
        guard let challenge = Base64URL.decode(challenge).flatMap(Challenge.init) else { throw Malformed() }
        guard let credential else {
            let ceremony = RegistrationCeremony(
                relyingParty: relyingParty, challenge: challenge,
                requiresUserVerification: requiresUserVerification, algorithms: algorithms.map(COSEAlgorithm.init))
            _ = try ceremony.verify(try RegistrationResponse(json: Array(response.utf8)))
            return
        }
        guard let id = Base64URL.decode(credential.id).flatMap(CredentialID.init),
            let key = Base64URL.decode(credential.publicKey),
            let user = Base64URL.decode(credential.userHandle).flatMap(UserHandle.init)
        else { throw Malformed() }
        let stored = StoredCredential(
            id: id, publicKey: try CredentialPublicKey(coseBytes: key), signatureCounter: credential.signatureCounter,
            userHandle: user, isBackupEligible: nil)
        let ceremony = AuthenticationCeremony(
            relyingParty: relyingParty, challenge: challenge, requiresUserVerification: requiresUserVerification,
            allowedCredentials: [], user: nil)
        _ = try ceremony.verify(try AuthenticationResponse(json: Array(response.utf8)), with: stored)
    }
}
