// SPDX-License-Identifier: MIT
// Lua: runs a script with tables, strings, closures, metatables, coroutines, errors and floats. A
// program in Python gives the same result.

#include "guest.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

static const char script[] =
    // Tables: primes, and a sum over those below 10000.
    "local composite, primes = {}, {}\n"
    "for i = 2, 9999 do\n"
    "  if not composite[i] then\n"
    "    primes[#primes + 1] = i\n"
    "    for j = i * i, 9999, i do composite[j] = true end\n"
    "  end\n"
    "end\n"
    "local sum = 0\n"
    "for _, prime in ipairs(primes) do sum = sum + prime end\n"

    // Strings: how often each word occurs in a text, in the order of the alphabet.
    "local text = string.rep('the quick brown fox jumps over the lazy dog and the cat ', 20)\n"
    "local counts, words = {}, {}\n"
    "for word in text:gmatch('%a+') do\n"
    "  if not counts[word] then words[#words + 1] = word end\n"
    "  counts[word] = (counts[word] or 0) + 1\n"
    "end\n"
    "table.sort(words)\n"
    "for i, word in ipairs(words) do words[i] = word:sub(1, 2):upper() .. counts[word] end\n"

    // Closures: functions that remember.
    "local function counter(step)\n"
    "  local value = 0\n"
    "  return function() value = value + step; return value end\n"
    "end\n"
    "local one, three = counter(1), counter(3)\n"
    "for i = 1, 2000 do one(); if i % 2 == 0 then three() end end\n"
    "local known = {}\n"
    "local function fibonacci(n)\n"
    "  if n < 2 then return n end\n"
    "  if not known[n] then known[n] = fibonacci(n - 1) + fibonacci(n - 2) end\n"
    "  return known[n]\n"
    "end\n"

    // Metatables: points that can be added.
    "local Point = {}\n"
    "Point.__index = Point\n"
    "Point.__add = function(a, b) return setmetatable({x = a.x + b.x, y = a.y - b.y}, Point) end\n"
    "function Point:square() return self.x * self.x + self.y * self.y end\n"
    "local point = setmetatable({x = 0, y = 0}, Point)\n"
    "for i = 1, 1000 do point = point + setmetatable({x = i, y = 1}, Point) end\n"

    // Sorting with a function of one's own.
    "local state, numbers = 1, {}\n"
    "for i = 1, 1000 do\n"
    "  state = state * 1103515245 + 12345 & 0x7fffffff\n"
    "  numbers[i] = state >> 16\n"
    "end\n"
    "table.sort(numbers, function(a, b) return a > b end)\n"

    // Coroutines, errors, floating-point numbers.
    "local steps = 0\n"
    "for value in coroutine.wrap(function()\n"
    "  local n = 837799\n"
    "  while n ~= 1 do\n"
    "    n = n % 2 == 0 and n // 2 or 3 * n + 1\n"
    "    coroutine.yield(n)\n"
    "  end\n"
    "end) do steps = steps + 1 end\n"
    "local caught = 0\n"
    "for i = 1, 100 do\n"
    "  if not pcall(function() if i % 3 == 0 then error('three') end end) then caught = caught + 1 "
    "end\n"
    "end\n"
    "local series = 0.0\n"
    "for i = 1, 1000 do series = series + 1 / (i * i) end\n"

    "return string.format('%d %d %s %d %d %d %d %d %d %d %d %.12f', #primes, sum,\n"
    "  table.concat(words, ','), one(), three(), fibonacci(80), point:square(), numbers[1],\n"
    "  numbers[500], steps, caught, series)\n";

uint8_t known_answer[] =
    "1229 5736396 AN20,BR20,CA20,DO20,FO20,JU20,LA20,OV20,QU20,TH60 2001 3003 "
    "23416728348467685 250501250000 32731 17024 524 33 1.643934566682";

static void* allocate(void* data, void* block, size_t old_size, size_t size)
{
    (void)data;
    (void)old_size;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

bool check(void)
{
    lua_State* const lua = lua_newstate(allocate, NULL);
    if (lua == NULL)
        return false;
    luaL_requiref(lua, LUA_GNAME, luaopen_base, 1);
    luaL_requiref(lua, LUA_COLIBNAME, luaopen_coroutine, 1);
    luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
    const bool right = luaL_loadbuffer(lua, script, sizeof script - 1, "script") == LUA_OK &&
                       lua_pcall(lua, 0, 1, 0) == LUA_OK &&
                       strcmp(lua_tostring(lua, -1), (const char*)known_answer) == 0;
    lua_close(lua);
    return right;
}
