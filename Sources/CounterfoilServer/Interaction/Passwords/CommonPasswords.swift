/// The passwords that most people choose, which are the first that anybody tries.
///
/// They are made as people make them: a word of ``words`` and what is put after it, a word twice, a run along the keyboard,
/// or a few characters over and over. That is more than the three thousand most used ones, and nothing that a person would
/// put together alone. Capitals and figures in the place of letters make no difference.
enum CommonPasswords {
    /// Whether a password is one of them.
    static func contain(_ password: String) -> Bool {
        let lowered = password.lowercased()
        // Nothing longer is made in these ways, and a repetition of a few characters is one at any length.
        guard lowered.utf8.count <= 40 else { return isRepetition(Array(lowered.utf8)) }
        if isRepetition(Array(lowered.utf8)) || isRun(lowered) { return true }
        return endings(of: lowered).contains { isWord($0) }
    }

    /// What may stand before an ending of ``endings``; the whole text comes first.
    private static func endings(of text: String) -> [String] {
        var wholes = [text]
        for ending in endings where text.hasSuffix(ending) && text.utf8.count > ending.utf8.count {
            wholes.append(String(text.dropLast(ending.count)))
        }
        // A figure or two in front.
        let front = text.drop { $0.isASCII && $0.isNumber }
        if front.startIndex != text.startIndex, !front.isEmpty { wholes.append(String(front)) }
        return wholes
    }

    private static func isWord(_ text: String) -> Bool {
        let plain = plain(text)
        if words.contains(text) || words.contains(plain) { return true }
        // The same word twice.
        let half = plain.index(plain.startIndex, offsetBy: plain.count / 2)
        return plain.count.isMultiple(of: 2) && plain[..<half] == plain[half...]
            && words.contains(String(plain[..<half]))
    }

    /// A text with the letters back for which figures and signs stand.
    private static func plain(_ text: String) -> String {
        String(text.map { substitutes[$0] ?? $0 })
    }

    private static let substitutes: [Character: Character] = [
        "0": "o", "1": "i", "!": "i", "3": "e", "4": "a", "@": "a", "5": "s", "$": "s", "7": "t",
    ]

    /// One to four characters over and over.
    private static func isRepetition(_ bytes: [UInt8]) -> Bool {
        (1...4).contains { length in
            bytes.count >= length * 2 && bytes.indices.dropFirst(length).allSatisfy { bytes[$0] == bytes[$0 - length] }
        }
    }

    /// A piece of a row of keys, in either direction.
    private static func isRun(_ text: String) -> Bool {
        let reversed = String(text.reversed())
        return rows.contains { $0.contains(text) || $0.contains(reversed) }
    }

    /// Rows that fingers or minds run along.
    private static let rows = [
        "01234567890123456789", "0987654321qwertyuiop", "1234567890-=", "123456789qwertyuiop", "1234567890qwertyuiop",
        "abcdefghijklmnopqrstuvwxyz0123456789", "qwertyuiop[]asdfghjkl;'zxcvbnm,./", "qwertyuiopasdfghjklzxcvbnm",
        "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
        "!qaz@wsx#edc$rfv%tgb^yhn&ujm", "qazwsxedcrfvtgbyhnujmikolp", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0",
        "zaq1xsw2cde3vfr4bgt5nhy6mju7", "zaq12wsxcde34rfv", "1qazxsw23edcvfr4", "qweasdzxcrtyfghvbn", "qweasdzxc123",
        "123qweasdzxc", "qwe123asd456zxc789", "147258369147258369", "159753159753", "789456123", "741852963",
        "963852741",
        "11223344556677889900", "112233445566", "aabbccddeeff", "a1b2c3d4e5f6g7h8", "1a2b3c4d5e6f7g8h", "a1s2d3f4g5h6",
        "123abc456def", "1029384756", "102030405060708090", "010203040506070809", "13579246810", "2468101214",
        "!@#$%^&*()_+", "asdf1234567890", "abcd1234567890", "qwer1234567890", "asd123456789", "qwe123456789",
        "abc1234567890", "aaa111222333", "111222333444555", "1111222233334444", "123123321321", "12344321", "123454321",
        "147896325", "19216801", "31415926535", "0123698745", "14789632",
    ]

    /// What people put after a word.
    private static let endings: [String] = {
        let signs = [
            "!", "!!", "?", ".", "*", "@", "#", "$", "1!", "12!", "123!", "1234!", "01!", "!1", "@1", "@123", "#1",
        ]
        let others = [
            "_1", "-1", "_123", "abc", "xyz", "qwe", "asd", "xxx", "4ever", "4me", "4life", "4u", "man", "boy", "girl",
        ]
        let rising = (1...10).map { String("1234567890".prefix($0)) }
        let repeated = (0...9).flatMap { [String(repeating: "\($0)", count: 3), String(repeating: "\($0)", count: 4)] }
        let figures = ["007", "321", "4321", "54321", "1212", "1313", "2580", "420", "123123", "111111", "666666"]
        let short = (0...9).map(String.init) + (0...9).map { "0\($0)" } + (10...99).map(String.init)
        let years = (1940...2039).map(String.init)
        return signs + others + rising + repeated + figures + short + years + years.map { $0 + "!" }
    }()
}
