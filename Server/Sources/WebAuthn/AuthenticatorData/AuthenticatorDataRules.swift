import Crypto

extension AuthenticatorData {
    /// Verifies the RP ID and the flags: WebAuthn §7.1 steps 14 to 17, §7.2 steps 15 to 18.
    func check(
        _ relyingParty: RelyingParty, requiresUserPresence: Bool, requiresUserVerification: Bool
    ) throws(CeremonyRefusal.Reason) {
        guard relyingPartyIDHash.elementsEqual(SHA256.hash(data: Array(relyingParty.id.utf8))) else {
            throw .relyingPartyID
        }
        guard flags.contains(.userPresent) || !requiresUserPresence else { throw .userPresence }
        guard flags.contains(.userVerified) || !requiresUserVerification else { throw .userVerification }
        guard flags.contains(.backupEligible) || !flags.contains(.backedUp) else { throw .backupFlags }
    }
}
