@_spi(Counterfoil) import QRCode

/// The page of a sign-in that asks for a code after the password; it posts `code`, `pending`, `request` and `ticket`.
///
/// With a security key or a passkey, the script posts `passkey` in place of `code`. If the box is ticked, the form also
/// posts `remember` with the value `true`.
package struct CodePage: Page, Hashable {
    package static let template = "code"

    /// The name of the user who is signing in.
    package var userDisplayName: DisplayName
    /// The path that the form posts to.
    package var action: String
    package var request: String
    package var ticket: String
    /// The encrypted sign-in that waits for the code; the hidden field `pending`.
    package var pending: String
    /// The error, in one sentence, when the form is shown again.
    package var problem: String?
    package var retryAfterSeconds: Int?
    /// The label of the box with which the user has this browser remembered for some days; nil if it is not offered.
    package var memory: String?
    /// The options with which the script uses a security key or a passkey, in JSON (WebAuthn §5.1.9); nil if the user
    /// has none.
    package var keyOptions: String?
    /// The label of the button that asks for one of them.
    package var keyLabel: String?
    /// Whether the user has an authenticator app; if not, the page asks for a security key or a recovery code.
    package var hasApp: Bool
    /// Whether a signed-in user confirms for an app; the button `cancel` with the value `true` ends its request.
    package var isConfirming: Bool

    package init(
        userDisplayName: DisplayName, action: String, request: String, ticket: String, pending: String,
        problem: String? = nil, retryAfterSeconds: Int? = nil, memory: String? = nil, keyOptions: String? = nil,
        keyLabel: String? = nil, hasApp: Bool = true, isConfirming: Bool = false
    ) {
        self.userDisplayName = userDisplayName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.pending = pending
        self.problem = problem
        self.retryAfterSeconds = retryAfterSeconds
        self.memory = memory
        self.keyOptions = keyOptions
        self.keyLabel = keyLabel
        self.hasApp = hasApp
        self.isConfirming = isConfirming
    }

    package var script: PageScript? { keyOptions == nil ? nil : .passkeys }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        ["wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) }]
    }
}

/// The page of a sign-in on which a user sets up the second factor that is required; it posts `code`, `pending`,
/// `setup`, `request` and `ticket`.
///
/// With a security key, the script posts `passkey` in place of `code` (WebAuthn §5.1, `RegistrationResponseJSON`).
package struct CodeSetupPage: Page, Hashable {
    package static let template = "code-setup"

    package var userDisplayName: DisplayName
    /// The path that the form posts to.
    package var action: String
    package var request: String
    package var ticket: String
    package var pending: String
    package var problem: String?
    package var offer: AuthenticatorOffer
    /// The options with which the script adds a security key in place of an app, in JSON (WebAuthn §5.1.8); nil if the
    /// server has no passkeys.
    package var keyOptions: String?

    package init(
        userDisplayName: DisplayName, action: String, request: String, ticket: String, pending: String,
        problem: String? = nil, offer: AuthenticatorOffer, keyOptions: String? = nil
    ) {
        self.userDisplayName = userDisplayName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.pending = pending
        self.problem = problem
        self.offer = offer
        self.keyOptions = keyOptions
    }

    package var script: PageScript? { keyOptions == nil ? nil : .passkeys }
}

/// The page with the recovery codes, which a user sees once, after the setup in a sign-in.
package struct RecoveryCodesPage: Page, Hashable {
    package static let template = "recovery-codes"

    package var codes: [String]
    /// The URL at which the sign-in continues.
    package var next: String

    package init(codes: [String], next: String) {
        self.codes = codes
        self.next = next
    }
}

/// The secret of a second factor that is being set up, as a page shows it.
package struct AuthenticatorOffer: Sendable, Hashable {
    /// The secret in groups of four letters, for people who type it.
    package var secret: String
    /// The URI that opens an app on the same device.
    package var uri: String
    /// The URI as a QR code; nil if the system has no library for it.
    package var image: QRImage?
    /// The encrypted secret; the hidden field `setup`.
    package var setup: String

    package init(_ secret: AuthenticatorSecret, issuer: DisplayName, name: String, setup: String) {
        let letters = Array(secret.exposed)
        self.secret = stride(from: 0, to: letters.count, by: 4).map { start in
            String(letters[start..<min(start + 4, letters.count)])
        }.joined(separator: " ")
        uri = secret.uri(issuer: issuer.description, name: name)
        image = QRImage(uri)
        self.setup = setup
    }
}

/// A QR code as the path of an SVG image, with its quiet zone.
package struct QRImage: Sendable, Hashable {
    /// The width and the height, in modules.
    package var size: Int
    /// The dark modules (SVG 2 §9.3).
    package var path: String

    /// Encodes a text; nil if the system has no libqrencode, or the text is too long.
    init?(_ text: String) {
        guard let code = try? QRCode(text) else { return nil }
        size = code.width + 2 * QRCode.quietZone
        var path = ""
        for row in 0..<code.width {
            for column in 0..<code.width where code.isDark(row: row, column: column) {
                path += "M\(column + QRCode.quietZone) \(row + QRCode.quietZone)h1v1h-1z"
            }
        }
        self.path = path
    }

    package init(size: Int, path: String) {
        self.size = size
        self.path = path
    }
}
