import Testing

@testable import CounterfoilClient

/// Tests of the result codes of Apple's keychain, which exists on Apple platforms only.
struct KeychainStatusTests {
    @Test func `only a missing entitlement means that a program has no keychain`() {
        #expect(!KeychainStatus.missingEntitlement.isFromKeychain)
        for code: Int32 in [0, -25300, -25308, -25293, -25291, -128, -50] {
            #expect(KeychainStatus(rawValue: code).isFromKeychain, "\(code)")
        }
    }

    @Test func `a locked device is an error and never a missing record`() {
        let locked = KeychainStatus.interactionNotAllowed.error(words: "User interaction is not allowed.")
        #expect("\(locked)" == "the Keychain cannot be used: the device is locked; try again after it was unlocked")
        let denied = KeychainStatus(rawValue: -25293).error(words: "The user name or passphrase is not correct.")
        #expect("\(denied)" == "the Keychain cannot be used: The user name or passphrase is not correct.")
        #expect("\(KeychainStatus(rawValue: -1).error(words: nil))".hasSuffix("the system returned the status -1"))
    }
}
