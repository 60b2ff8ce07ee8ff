import Crypto

/// The statements of an authenticator about a ceremony (`authenticatorData`, WebAuthn §6.1).
package struct AuthenticatorData: Sendable, Hashable {
    /// The reason why bytes are not authenticator data.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The data are shorter than their flags say.
        case truncated
        /// Bytes follow what the flags announce.
        case trailingBytes
        /// The public key is not valid CBOR.
        case publicKey(CBORFault)
        /// The extensions are not valid CBOR.
        case extensions(CBORFault)
        /// The extensions are not a map.
        case extensionsNoMap
        /// A registration without attested credential data.
        case missingCredential
        /// An assertion with attested credential data.
        case unexpectedCredential

        /// An explanation that contains no part of the data.
        package var description: String {
            switch self {
            case .truncated: "the authenticator data are incomplete"
            case .trailingBytes: "bytes follow the authenticator data"
            case .publicKey(let fault): "the public key is malformed: \(fault)"
            case .extensions(let fault): "the extensions are malformed: \(fault)"
            case .extensionsNoMap: "the extensions are not a CBOR map"
            case .missingCredential: "the authenticator data of a registration contain no credential"
            case .unexpectedCredential: "the authenticator data of an assertion contain a credential"
            }
        }
    }

    /// The flags of authenticator data.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// UP: the user was present.
        package static let userPresent = Flags(rawValue: 1 << 0)
        /// UV: the authenticator has verified the user, for example by a fingerprint or a PIN.
        package static let userVerified = Flags(rawValue: 1 << 2)
        /// BE: the credential can be on several devices.
        package static let backupEligible = Flags(rawValue: 1 << 3)
        /// BS: the credential is backed up now.
        package static let backedUp = Flags(rawValue: 1 << 4)
        /// AT: attested credential data follow.
        package static let attestedCredential = Flags(rawValue: 1 << 6)
        /// ED: extensions follow.
        package static let extensions = Flags(rawValue: 1 << 7)
    }

    /// The SHA-256 hash of the RP ID.
    package let relyingPartyIDHash: [UInt8]
    /// The flags, with the bits that are reserved for future use and mean nothing.
    package let flags: Flags
    /// The signature counter; 0 if the authenticator has none.
    package let signatureCounter: UInt32
    /// The credential that was created; nil in an assertion.
    let credential: AttestedCredentialData?

    /// Parses data, of which the flags announce each part.
    ///
    /// The extensions are checked to be one map, and not read.
    init(parsing bytes: [UInt8]) throws(Fault) {
        guard bytes.count >= 37 else { throw .truncated }
        relyingPartyIDHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        signatureCounter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var end = 37
        credential = flags.contains(.attestedCredential) ? try AttestedCredentialData(bytes, &end) : nil
        if flags.contains(.extensions) { try Self.readExtensions(bytes, &end) }
        guard end == bytes.count else { throw .trailingBytes }
    }

    private static func readExtensions(_ bytes: [UInt8], _ position: inout Int) throws(Fault) {
        var reader = CBORReader(bytes, from: position)
        let value: CBORValue
        do { value = try reader.item() } catch { throw .extensions(error) }
        guard value.members != nil else { throw .extensionsNoMap }
        position = reader.position
    }
}

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

/// The credential that an authenticator has created (WebAuthn §6.5.1).
struct AttestedCredentialData: Sendable, Hashable {
    let aaguid: AAGUID
    /// The identifier, with a length that is not checked yet.
    let credentialID: [UInt8]
    /// The public key, which is not checked yet.
    let publicKey: CBORValue
    /// The public key as it is encoded.
    let publicKeyBytes: [UInt8]

    /// Parses the data at a position, and moves the position behind them.
    init(_ bytes: [UInt8], _ position: inout Int) throws(AuthenticatorData.Fault) {
        guard let aaguid = AAGUID(bytes[position...].prefix(16)), bytes.count - position >= 18 else {
            throw .truncated
        }
        self.aaguid = aaguid
        let start = position + 18
        let length = Int(bytes[start - 2]) << 8 | Int(bytes[start - 1])
        guard length <= bytes.count - start else { throw .truncated }
        credentialID = Array(bytes[start..<start + length])
        var reader = CBORReader(bytes, from: start + length)
        do { publicKey = try reader.item() } catch { throw .publicKey(error) }
        position = reader.position
        publicKeyBytes = Array(bytes[start + length..<position])
    }
}
