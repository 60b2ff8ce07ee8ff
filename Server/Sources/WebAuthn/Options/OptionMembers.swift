@_spi(Counterfoil) import CounterfoilProtocol

/// A credential in a list of the options (WebAuthn §5.8.3, `PublicKeyCredentialDescriptorJSON`).
package struct CredentialDescriptor: Sendable, Hashable {
    /// `id`.
    package let id: CredentialID
    /// `transports`, as the browser stated them at the registration.
    package let transports: [AuthenticatorTransport]

    /// Creates a descriptor.
    package init(id: CredentialID, transports: [AuthenticatorTransport] = []) {
        self.id = id
        self.transports = transports
    }

    static func write(_ descriptors: [CredentialDescriptor], to writer: inout JSONWriter) {
        for descriptor in descriptors {
            writer.object { writer in
                writer.member("type", "public-key")
                writer.member("id", descriptor.id.description)
                guard !descriptor.transports.isEmpty else { return }
                writer.member(
                    "transports",
                    list: { writer in
                        for transport in descriptor.transports { writer.element(transport.rawValue) }
                    })
            }
        }
    }
}

/// The need for the authenticator to verify the user (WebAuthn §5.8.6).
package enum UserVerificationRequirement: String, Sendable, Hashable {
    case required, preferred, discouraged
}

/// The need for a credential that the authenticator finds without its identifier (WebAuthn §5.4.6).
package enum ResidentKeyRequirement: String, Sendable, Hashable {
    case required, discouraged
}

/// An authenticator that the server expects the user to use (WebAuthn §5.8.8), which browsers may ignore.
package enum CredentialHint: String, Sendable, Hashable {
    case securityKey = "security-key"
    case clientDevice = "client-device"
    /// A device nearby, such as a phone.
    case hybrid

    static func write(_ hints: [CredentialHint], to writer: inout JSONWriter) {
        for hint in hints { writer.element(hint.rawValue) }
    }
}
